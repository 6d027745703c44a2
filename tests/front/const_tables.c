// Static const scalars and tables, of structs too; a const local table.
// args: n=5 x[5]=1,2,3,4,5 y[5]=0
#define COUNT 5
enum { SHIFT = 2, MORE };
static const double weights[COUNT] = {0.5, 1.0 / 3, -2e-1, [4] = 1e3 * 2};
static const struct { int k; float w; } rows[2][2] = {{{1, 2}, {3, 4.5f}}, {{5}}};
const int offset = SHIFT * 3 - MORE;
static const unsigned char bytes[] = {255, 1, 0xff & 300, 7, 9};
void
const_tables(int n, const double x[n], double y[n])
{
    static const int stride[2] = {1, -1};
    const float local[3] = {0.1f, 0.2f, 0.3f};
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * weights[i] + rows[i & 1][(i >> 1) & 1].w * rows[0][1].k + offset + bytes[i] * stride[i % 2] + local[i % 3];
}

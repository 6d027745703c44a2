// args: n=4 kind[4]=0,1,2,5 x[4]=1,2,3,4
enum kind { NONE, HALF, DOUBLE = 5 };
typedef enum { UP = -1, DOWN = 1 } way;
static double
apply(enum kind k, double v, way w)
{
    switch (k) {
    case NONE:
        return w;
    case HALF:
        return v / 2;
    case DOUBLE:
        return v * 2;
    }
    return -v;
}
void
enums(int n, const int kind[n], double x[n])
{
    for (int i = 0; i < n; i++)
        x[i] = apply(kind[i], x[i], i & 1 ? UP : DOWN);
}

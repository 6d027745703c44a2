// Local arrays with run-time indices, of several ranks, of structs.
// args: n=6 x[6]=1,2,3,4,5,6 k[6]=0,2,1,2,0,1 y[6]=0
struct cell { int n; double sum; };
void
local_arrays(int n, const double x[n], const int k[n], double y[n])
{
    double m[3][2] = {{1}, {2, 3}};
    struct cell c[3] = {[1] = {.sum = 5}};
    int count[3] = {0};
    for (int i = 0; i < n; i++) {
        m[k[i]][i & 1] += x[i];
        c[k[i]].n += 1;
        c[k[i]].sum += x[i] * m[k[i]][0];
        ++count[k[i]];
    }
    for (int i = 0; i < n; i++)
        y[i] = m[k[i]][1] + c[k[i]].sum / c[k[i]].n + count[i % 3];
}

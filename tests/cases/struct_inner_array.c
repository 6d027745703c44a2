// Arrays inside an array of structs: their axes come behind the structs'.
// args: n=3 p.mass[3]=0.5,1.5,-0.4 p.at[3][2]=1,2,3,4,5,6 p.turn[3][2][2]=1,0,0.5,1,2,1,0,1,1,1,1,1 p.kind[3]=0,1,2 out[3][2]=0
#include <math.h>

struct body {
    double mass;
    float at[2];
    int kind;
    double turn[2][2];
};

void
struct_inner_array(int n, const struct body p[n], double out[n][2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                out[i][a] += p[i].kind == 1 ? p[i].mass * p[i].turn[a][b] * p[i].at[b] : sin(p[i].at[a]) * p[i].turn[b][b];
}

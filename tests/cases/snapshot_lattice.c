// Populations that stream: three loads of one array, each of another element.
// args: n=4 steps=3 f[3][4]=0.5,0.6,0.4,0.3,0.2,0.3,0.1,0.25,0.15,0.2,0.3,0.1 g[3][4]=0
// split: refused
#include <math.h>

void
snapshot_lattice(int n, int steps, double f[3][n], double g[3][n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double rest = f[0][i], right = f[1][(i + n - 1) % n], left = f[2][(i + 1) % n];
            double rho = rest + right + left, u = (right - left) / rho;
            g[0][i] = rest + 0.8 * (rho * (0.66 - u * u) - rest);
            g[1][i] = right + 0.8 * (rho * (0.17 + 0.5 * u + 0.5 * u * u) - right);
            g[2][i] = left + 0.8 * (rho * (0.17 - 0.5 * u + 0.5 * u * u) - left);
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int q = 0; q < 3; q++)
                f[q][i] = g[q][i];
    }
}

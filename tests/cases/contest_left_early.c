// An atomic max in a time loop that is left early, in an if on a sum: what was found out about an iteration is carried out
// of the loop and of the branch.
// args: n=40 steps=3 x[40]=0.5,1.5,-0.4 acc[4]=0.1
#include <math.h>

void
contest_left_early(int n, int steps, double x[n], double acc[4])
{
    double s = 0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += x[i];
    if (s > -1.0) {
        for (int t = 0; t < steps; t++) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                double v = x[i] * (1 + 0.1 * t) + 0.003 * i;
                #pragma omp atomic compare
                if (v > acc[3]) { acc[3] = v; }
            }
            if (s > 0.194 && t > 0)
                break;
        }
    }
}

// kernel: contest_of_constants
// args: n=40 acc[4]=0.1
// skip: fd
void
contest_of_constants(int n, double acc[4])
{
    double s = 0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 1; i < n - 2; i++)
        s += 0.5;
    if (s > 0.5) {
        for (int t = 0; t < (int)1.5; t++) {
            #pragma omp parallel for
            for (int i = 0; i < n; i++) {
                double v = 0.5;
                #pragma omp atomic compare
                if (v > acc[4 - 1]) { acc[4 - 1] = v; }
            }
            if (s > 0.194)
                break;
        }
    }
}

// args: n=3 m=4 limit=2.5 x[3][4]=0.5,-0.3,0.8,0.1,-0.6,0.2,0.9,-0.4,1.1,0.7,-0.2,0.3 y[3]=0 z[3]=0
/* Local arrays that are read in deeper loops than written: overwritten, swapped, sorted, written under conditions
 * and left by a break. */
#include <math.h>

void
local_array_walks_back(int n, int m, double limit, const double x[n][m], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[8], b[8] = {0.0}, sum = 0.0, other = 0.0;
        for (int k = 0; k < 8; k++)
            a[k] = x[i][k % m] * (1.0 + 0.1 * k);
        for (int t = 0; t < 5; t++) {
            for (int k = 0; k < 8; k++) {
                double s = 0.0;
                for (int j = 0; j < 8; j++)
                    s += a[j] * a[k] * (1.0 + 0.01 * j * t) - 0.5 * b[j] * a[j];
                if (s > 0.1)
                    b[k] = 0.3 * s + 0.2 * b[k];
                else if (k > 0)
                    b[k - 1] = 0.1 * sin(s);
                if (fabs(s) > limit)
                    break;
                double old = a[k];
                a[k] = a[7 - k] + 0.01 * s;
                a[7 - k] = old * cos(s);
                other += old * a[k];
            }
            for (int k = 0; k < 8; k++)
                for (int j = 0; j < 8; j++)
                    sum += a[k] * b[j] * 0.05;
        }
        y[i] = sum;
        z[i] = other;
    }
}

// kernel: sorts
// args: n=2 x[2][6]=0.5,-0.3,0.8,0.1,-0.6,0.2,0.9,-0.4,1.1,0.7,-0.2,0.3 y[2]=0
/* Insertion sort of a local array, then sums of products. */
void
sorts(int n, const double x[n][6], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[6], sum = 0.0;
        for (int k = 0; k < 6; k++)
            a[k] = x[i][k];
        for (int k = 1; k < 6; k++) {
            double v = a[k];
            int j = k;
            while (j > 0 && a[j - 1] > v) {
                a[j] = a[j - 1];
                j--;
            }
            a[j] = v;
        }
        for (int r = 0; r < 3; r++) {
            for (int k = 0; k < 6; k++)
                for (int j = 0; j <= k; j++)
                    for (int l = 0; l < 2; l++)
                        sum += a[k] * a[j] * a[(k + l) % 6] * (1.0 + k + 0.3 * r);
            a[r] = a[r] * a[r + 1] + 0.1 * sum;
        }
        y[i] = sum;
    }
}

// kernel: in_time
// args: n=2 steps=3 x[2]=0.4,-0.7 y[2]=0.1,0.2
// split: refused
/* The task in a time loop: its threads are reversed from a record. */
void
in_time(int n, int steps, const double x[n], double y[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double a[4], sum = 0.0;
            for (int k = 0; k < 4; k++)
                a[k] = x[i] + 0.1 * k + 0.2 * y[i];
            for (int k = 0; k < 4; k++) {
                double s = 0.0;
                for (int j = 0; j < 4; j++)
                    for (int l = 0; l < 4; l++)
                        s += 0.05 * a[j] * sin(a[l]) * a[k];
                a[k] = 0.5 * s;
                sum += s * a[3 - k];
            }
            y[i] = y[i] + 0.05 * sum;
        }
    }
}

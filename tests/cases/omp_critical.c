// Critical sections that update single values are atomic updates, or reductions; those that do more need the loop's order.
// kernel: omp_critical
// args: n=6 k[6]=0,1,0,2,1,0 x[6]=0.5,1.5,-0.4,0.3,0.9,-2 bins[3]=0 most[3]=-9 loss[2]=0
// skip: bits
// kernel: nearest
// args: n=6 x[6]=0.5,1.5,-0.4,0.3,0.9,-2 to=0.35 y[4]=0.1,0.2,0.3,0.4
// split: any
// skip: bits
#include <math.h>
void
omp_critical(int n, const int k[n], const double x[n], double bins[3], double most[3], double loss[2])
{
    double sum = 0, squares = 0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i] * x[i];
        #pragma omp critical
        {
            sum += x[i];
            squares += v;
        }
        #pragma omp critical (bins)
        for (int j = 0; j < 2; j++) {
            double w = v * j;
            w *= x[i];
            if (j)
                bins[k[i]] += w;
        }
        #pragma omp critical
        if (most[k[i]] < v)
            most[k[i]] = v;
    }
    loss[0] = sum * squares;
    #pragma omp parallel
    {
        double mine = 0;
        #pragma omp for
        for (int i = 0; i < n; i++)
            mine += x[i] * x[(i + 1) % n];
        #pragma omp critical
        {
            double twice = 2 * mine;
            loss[1] += twice;
        }
    }
}

/* a minimum and where it is; elements that each have an operation of their own */
void
nearest(int n, const double *x, double to, double y[4])
{
    double least = 1e9, last = 0, sum = 0;
    int at = -1;
    #pragma omp parallel for lastprivate(last) reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        double d = fabs(x[i] - to);
        last = d * d;
        sum += last;
        #pragma omp critical
        if (d < least) {
            least = d;
            at = i;
        }
    }
    y[0] += x[at] * least + last * sum;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp critical
        {
            y[1] += 0.5 * x[i];
            if (2 * x[i] > y[2])
                y[2] = 2 * x[i];
            y[3] -= x[i];
        }
    }
}

// args: n=3 x[3]=0.5,1,1.5 acc[2]=0.1,0.2
// split: any
// An op behind a task that adds, whose derivative needs its own result.
#include <math.h>
void
late_result(int n, const double x[n], double acc[2])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        acc[0] += x[i] * x[i];
    }
    acc[1] += tanh(acc[0]);
}

// Devices, teams and their loops.
// args: n=6 x[6]=3,1,4,1,5,9 y[6]=0 z[6]=0 out[10]=0
#include <omp.h>
#pragma omp declare target
static double
twice(double v)
{
    return 2 * v;
}
#pragma omp end declare target
void
omp_target(int n, const double x[n], double y[n], double z[n], double out[10])
{
    double s = 1, most = 0, kept = 5, mapped = 6, t;
    int j;
    #pragma omp target enter data map(to : x[0:n]) map(alloc : y[:n])
    #pragma omp target data map(tofrom : y[0:n]) device(0)
    {
        #pragma omp target teams distribute parallel for simd map(to : x[0:n]) reduction(+ : s) private(t) \
            num_teams(2) thread_limit(64) dist_schedule(static) defaultmap(tofrom : scalar)
        for (int i = 0; i < n; i++) {
            t = twice(x[i]);
            y[i] = t;
            s += t;
        }
        #pragma omp target update from(y[0:n])
        #pragma omp target teams loop reduction(max : most) collapse(2) bind(teams) order(concurrent)
        for (int i = 0; i < n; i++)
            for (j = 0; j < 2; j++)
                if (x[i] * j > most)
                    most = x[i] * j;
    }
    #pragma omp target map(tofrom : out[:10], mapped, z[:n]) is_device_ptr(x) nowait depend(out : z)
    {
        kept = 8;
        mapped = kept;
        out[0] = kept;
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            z[i] += i;
    }
    #pragma omp taskwait
    #pragma omp target teams num_teams(1) map(tofrom : z[:n])
    {
        double factor = 3;
        #pragma omp distribute
        for (int i = 0; i < n; i += 3) {
            factor = 2;
            #pragma omp parallel for
            for (int k = i; k < i + 3; k++)
                z[k] += factor * x[k];
        }
    }
    #pragma omp teams num_teams(1)
    {
        out[8] = omp_get_team_num();
        #pragma omp distribute parallel for
        for (int i = 0; i < n; i++)
            z[i] += x[i];
    }
    #pragma omp target exit data map(from : y[0:n])
    #pragma omp target parallel for lastprivate(j)
    for (int i = 0; i < n; i++)
        j = i;
    #pragma omp teams distribute parallel for
    for (int i = 0; i < n; i++)
        z[i] *= 2;
    #pragma omp loop bind(thread)
    for (int i = 0; i < n; i++)
        y[i] += 1;
    #pragma omp target simd
    for (int i = 0; i < n; i++)
        y[i] += 1;
    #pragma omp target parallel
    out[7] = 4;
    out[1] = s;
    out[2] = most;
    out[3] = kept;
    out[4] = mapped;
    out[5] = j;
    out[6] = omp_is_initial_device();
}

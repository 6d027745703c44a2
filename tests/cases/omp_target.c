// Offloaded loops, sections and tasks are the loops and statements that they are without a device.
// args: n=6 k[6]=0,1,1,0,2,2 x[6]=0.5,1.5,-0.4,0.3,0.9,-2 y[6]=0 bins[3]=0 loss[2]=0
// skip: bits
void
omp_target(int n, const int k[n], const double x[n], double y[n], double bins[3], double loss[2])
{
    double sum = 0, scale = 2;
    #pragma omp target data map(to : x[0:n], k[0:n]) map(tofrom : y[0:n], bins[0:3])
    {
        #pragma omp target teams distribute parallel for map(to : x[0:n]) reduction(+ : sum, bins[:3])
        for (int i = 0; i < n; i++) {
            scale = x[i] * x[i];
            y[i] = scale * x[i];
            sum += y[i];
            bins[k[i]] += scale;
        }
        #pragma omp target map(tofrom : bins[0:3])
        {
            scale *= 3;
            bins[0] *= scale;
        }
    }
    #pragma omp parallel sections reduction(+ : sum)
    {
        #pragma omp section
        sum += bins[0] * bins[1];
        #pragma omp section
        {
            #pragma omp task shared(sum)
            sum += scale;
            #pragma omp taskwait
        }
    }
    loss[0] += sum;
    #pragma omp parallel
    #pragma omp single
    #pragma omp taskloop
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        loss[1] += y[i] * bins[2];
    }
}

// A loss added to by every thread, twice, with - and +.
// args: n=4 x[4]=0.5,1.5,-0.4,0.3 loss[1]=5
// skip: bits
// seed: loss=2
// grad: x=0,4,-3.6,-0.8 loss=2
void
accumulate_loss(int n, const double x[n], double loss[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        loss[0] += x[i] * x[i];
        #pragma omp atomic
        loss[0] -= x[i];
    }
}

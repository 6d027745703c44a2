// An integer capture hands out slots; the slot is replayed exactly.
// args: n=4 x[4]=0.5,1.5,-0.4,1.2 count[1]=0 y[4]=0
// seed: y=1
// grad: x=1,3,-0.8,2.4
// split: refused
// threads: 1
void
atomic_capture(int n, const double x[n], int count[1], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int slot;
        #pragma omp atomic capture
        slot = count[0]++;
        y[slot] = x[i] * x[i];
    }
}

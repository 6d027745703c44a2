// Local counters that atomics and critical sections capture: what is kept moves together.
// args: n=8 x[8]=0.5,1.5,-0.4,0.3,0.9,-2,0.7,-1 kept[8]=0 loss[1]=0
// skip: bits
// split: any
void
omp_compact(int n, const double x[n], double kept[n], double loss[1])
{
    int count = 0, end = n;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (x[i] > 0) {
            int at;
            #pragma omp atomic capture
            at = count++;
            kept[at] = x[i] * x[i];
        } else {
            int at;
            #pragma omp critical
            {
                end -= 1;
                at = end;
            }
            kept[at] = -x[i];
        }
    for (int i = 0; i < count; i++)
        loss[0] += kept[i] * kept[i] * end;
}

// What an atomic returns beside updates is counted once, and where it decides about them it is what it was.
// args: n=43 x[43]=0.683,0.613,-1.907,0.253,1.973,-1.067,1.113,-1.977,-1.237,-1.117,-1.277,0.423,1.163,1.713,-1.387,0.843,-1.687,-0.337,1.493,0.653,0.713,0.473,-1.457,0.863,-1.707,-0.727,-1.027,-0.587,-1.787,1.953,-1.497,0.593,0.313,0.873,-1.857,1.893,-1.677,0.263,1.133,0.583,1.103,0.623,-0.977 a[3]=5,5,1 count[3]=0 slot[43]=0
// split: refused
// skip: bits
void
contest_counted(int n, const double x[n], double a[3], int count[3], int slot[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k;
        #pragma omp atomic capture
        k = count[0]++;
        slot[i] = k < n ? 1 : 0;
        #pragma omp atomic compare
        if (x[i] < a[0]) { a[0] = x[i]; }
        if (x[i] > -1) {
            int m;
            #pragma omp atomic capture
            m = count[1]++;
            double v = m >= 0 ? x[i] : -100;
            #pragma omp atomic compare
            if (v < a[1]) { a[1] = v; }
        }
        #pragma omp atomic
        count[2] += 2;
        #pragma omp atomic
        a[2] *= 1 + x[i] * 0.01;
    }
}

// Updates in loops of the thread: what decides about them is what atomics returned, and what was read while other threads updated it.
// args: n=23 m=4 x[23]=0.683,0.613,-1.907,0.253,1.973,-1.067,1.113,-1.977,-1.237,-1.117,-1.277,0.423,1.163,1.713,-1.387,0.843,-1.687,-0.337,1.493,0.653,0.713,0.473,-1.457 a[4]=5,6,7,8 b[4]=-3,-2,-5,-4 count[2]=0 s[23]=0.5
// split: refused
// skip: bits
void
contest_turns(int n, int m, double x[n], double a[4], double b[4], int count[2], double s[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int j = 0; j < m + i % 3; j++) {
            int k;
            #pragma omp atomic capture
            k = count[0]++;
            v = k >= 0 ? v * 0.75 + x[i] * (j - 2) * 0.125 : 100;
            if (k < 0)
                break;
            #pragma omp atomic compare
            if (v * v < a[(j * i) % 4]) { a[(j * i) % 4] = v * v; }
            double seen;
            #pragma omp atomic read
            seen = a[j % 4];
            if (v * v <= seen) {
                #pragma omp atomic compare
                if (v * v < a[j % 4]) { a[j % 4] = v * v; }
            }
            int t = 0;
            while (t < 5 && v * t < 1.5) {
                s[i] += v * t;
                #pragma omp atomic compare
                if (s[i] > b[(j + t) % 4]) { b[(j + t) % 4] = s[i]; }
                t++;
            }
            if (s[i] > 3)
                break;
            x[i] = v;
        }
    }
}

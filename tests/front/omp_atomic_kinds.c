// Every form of atomic; on local variables too.
// args: n=6 x[6]=1,2,4,0.5,2,4 k[6]=5,3,9,1,7,2 f[4]=64,1,0,3 a[9]=1000000,3,1,7,64,100,0,9,5 slot[6]=0 seen[6]=0 out[6]=0
void
omp_atomic_kinds(int n, const double x[n], const int k[n], double f[4], int a[9], int slot[n], int seen[n], int out[6])
{
    int count = 0, most = 0, total = 0, least = 9;
    short small = 1;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int v, r, old;
        double d;
        #pragma omp atomic
        f[0] /= x[i];
        #pragma omp atomic update seq_cst
        f[1] = x[i] * f[1];
        #pragma omp atomic write
        f[2] = 3;
        #pragma omp atomic
        --f[3];
        #pragma omp atomic
        a[0] /= k[i];
        #pragma omp atomic
        a[1] <<= 1;
        #pragma omp atomic
        a[4] = a[4] >> 1;
        #pragma omp atomic
        a[5] = 1 - a[5];
        #pragma omp atomic relaxed capture
        v = count++;
        slot[v] = 1;
        #pragma omp atomic capture
        { old = total; total += k[i]; }
        #pragma omp atomic capture hint(0)
        { total -= 1; old = total; }
        seen[v] = old < 100;
        #pragma omp atomic compare capture
        { old = most; if (most < k[i]) { most = k[i]; } }
        seen[v] += 2 * (old >= 0);
        #pragma omp atomic capture compare
        { if (least > k[i]) { least = k[i]; } old = least; }
        seen[v] += 4 * (old <= k[i]);
        #pragma omp atomic compare capture
        { r = a[6] == 0; if (r) { a[6] = 42; } }
        seen[v] += 8 * (r == 0 || r == 1);
        old = 42;
        #pragma omp atomic compare capture
        if (a[6] == 0) { a[6] = 1; } else { old = a[6]; }
        seen[v] += old;
        #pragma omp atomic compare capture
        { r = a[7] == 1; if (r) { a[7] = 1; } else { old = a[7]; } }
        seen[v] += old + r;
        #pragma omp atomic compare
        a[8] = a[8] > k[i] ? k[i] : a[8];
        #pragma omp atomic compare
        a[3] = k[i] > a[3] ? k[i] : a[3];
        #pragma omp atomic read
        d = f[2];
        seen[v] += d < 4;
        #pragma omp atomic
        small *= 1;
        #pragma omp atomic capture
        old = small += 1;
        seen[v] += old > 1;
    }
    out[0] = count;
    out[1] = most;
    out[2] = total;
    out[3] = least;
    out[4] = small;
}

/* One element for all: the reverse sets elements of adjoints to 0 and adds what was there to one, over whole groups and a
 * part of one. */
// kernel: broadcast
// args: n=43 y[43]=0.5,-1.5,2 g[43]=0
void
broadcast(int n, const double y[n], double g[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        g[i] = y[0];
}

// kernel: broadcast_float
// args: n=43 y[43]=0.5,-1.5,2 g[43]=0
void
broadcast_float(int n, const float y[n], float g[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        g[i] = y[0];
}

// kernel: broadcast_two
// args: n=43 y[43]=0.5,-1.5,2 g[43]=0 h[43]=0
void
broadcast_two(int n, const double y[n], double g[n], double h[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        g[i] = y[0] * y[1];
        h[i] = y[1];
    }
}

// kernel: broadcast_some
// args: n=43 k[43]=1,0,0,1,1 y[43]=0.5,-1.5,2 g[43]=0.25,3
// split: refused
void
broadcast_some(int n, const int k[n], const double y[n], double g[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (k[i])
            g[i] = y[2];
        else
            g[i] = g[i] * y[1];
    }
}

// kernel: broadcast_often
// args: n=43 y[43]=0.5,-1.5,2 g[43]=0.25,3
// split: refused
void
broadcast_often(int n, const double y[n], double g[n])
{
    for (int t = 0; t < 3; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            g[i] = y[t];
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            g[i] = g[i] * g[i] + y[0];
    }
}

// kernel: exchange
// args: n=43 c[43]=1,-1,-2,3 a[43]=0.5,2,1.25 s[43]=0
/* not of threads: LLVM makes the vectors */
void
exchange(int n, const double c[n], double a[n], double s[n])
{
    for (int i = 0; i < n; i++) {
        double t = 3.0;
        if (c[i] > 0.0) {
            t = a[i];
            a[i] = 0.5;
        }
        s[i] = t;
    }
}

// kernel: exchange_by_threads
// args: n=43 c[43]=1,-1,-2,3 a[43]=0.5,2,1.25 s[43]=0
void
exchange_by_threads(int n, const double c[n], double a[n], double s[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double t = 3.0;
        if (c[i] > 0.0) {
            t = a[i];
            a[i] = 0.5;
        }
        s[i] = t;
    }
}

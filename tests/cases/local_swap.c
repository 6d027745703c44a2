// Bubble sort in a local array: the derivative follows each element to its place.
// args: n=2 x[2][5]=0.5,0.1,-0.2,0.4,0.3,3,1,2,-1,0 w[5]=1,10,100,1000,10000 y[2]=0
// seed: y=1
// expect: y=5430.8,32099
// grad: x=10000,10,1,1000,100,10000,100,1000,1,10 w=-1.2,0.1,1.3,2.4,3.5
void
local_swap(int n, const double x[n][5], const double w[5], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double a[5];
        for (int j = 0; j < 5; j++)
            a[j] = x[i][j];
        for (int p = 0; p < 4; p++)
            for (int q = 0; q < 4 - p; q++)
                if (a[q] > a[q + 1]) {
                    double t = a[q];
                    a[q] = a[q + 1];
                    a[q + 1] = t;
                }
        double s = 0.0;
        for (int j = 0; j < 5; j++)
            s += w[j] * a[j];
        y[i] = s;
    }
}

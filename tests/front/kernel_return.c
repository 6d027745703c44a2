// return in the middle of a kernel, with a value.
// args: n=4 x[4]=1,2,3,4
double
kernel_return(int n, double x[n])
{
    double s = 0;
    if (n < 2)
        return -1;
    for (int i = 0; i < n; i++) {
        if (x[i] > 2.5) {
            x[i] = 0;
            return s;
        }
        s += x[i];
        x[i] = -s;
    }
    return 100;
}

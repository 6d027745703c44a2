// What is not evaluated has no effect.
// args: n=5 x[5]=0,1,-2,3,8 y[5]=0 calls[1]=0
static int
counted(int *calls, double v)
{
    ++*calls;
    return v > 0;
}
void
short_circuits(int n, const double x[n], double y[n], int calls[1])
{
    int c = 0;
    for (int i = 0; i < n; i++) {
        y[i] = x[i] != 0 && 1 / x[i] > 0.2 && counted(&c, x[i] - 1);
        if (x[i] < 0 || counted(&c, x[i]) || (y[i] += 10, 0))
            y[i] += 100;
        y[i] += i + 1 < n && x[i + 1] > 2 ? x[i + 1] : -1;
    }
    calls[0] = c;
}

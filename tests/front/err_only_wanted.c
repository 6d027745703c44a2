// args: n=2 x[2]=1,2
// Functions that nobody asks for raise no errors.
void
not_wanted(int n, float **x)
{
    goto end;
end:
    x[0][n] = 1;
}
static int never(int n) { return n ? never(n - 1) : 0; }
void
err_only_wanted(int n, float x[n])
{
    x[0] += n;
}

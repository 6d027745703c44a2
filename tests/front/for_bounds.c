// Bounds that the body changes, or that memory holds.
// args: n=6 x[6]=1,2,3,4,5,6 row[4]=0,2,2,6 y[4]=0
void
for_bounds(int n, double x[n], const int row[4], double y[4])
{
    int last = 3;
    for (int i = 0; i < last; i++) {
        if (i == 1)
            last = 5;
        y[3] += i;
    }
    for (int r = 0; r < 3; r++)
        for (int k = row[r]; k < row[r + 1]; k++)
            y[r] += x[k];
    for (int i = 0; i < x[0]; i++)
        x[0] = 3.5 - i * 0.25;
    size_t: ;
    for (unsigned long k = 0; k < n; k++)
        x[k] += k;
}

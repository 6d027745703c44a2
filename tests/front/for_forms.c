// for with missing parts, several counters, steps, directions, changed counters.
// args: n=10 x[10]=1,2,3,4,5,6,7,8,9,10 out[12]=0
void
for_forms(int n, const double x[n], double out[12])
{
    int i = 2, j;
    for (; i < n; i += 3)
        out[0] += x[i];
    out[1] = i;
    for (i = n; i-- > 0;)
        out[2] += i * x[i];
    for (;;) {
        if (++i > 4)
            break;
    }
    out[3] = i;
    for (i = 0, j = n - 1; i < j; i++, j--)
        out[4] += x[i] * x[j];
    out[5] = i * 100 + j;
    for (j = n - 1; j >= 0; j -= 2)
        out[6] += x[j];
    out[7] = j;
    for (int k = 0; k < n; k++) {
        if (x[k] > 3)
            k += 2;
        out[8] += k;
    }
    for (unsigned k = n; k > 3; k--)
        out[9] += x[k - 1];
    for (long k = 1; n >= k; k = k + 4)
        out[10] += k;
    for (i = 5; i < 3; i++)
        out[11]++;
    out[11] += i /* comment; with ; semicolons */;
}

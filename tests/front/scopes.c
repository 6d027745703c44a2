// Names shadow each other; variables in loops start anew.
// args: n=4 out[4]=0
static int v(int n)
{
    int v = n;
    {
        int v = 7;
        v++;
    }
    return v;
}
void
scopes(int n, int out[n])
{
    int i = 100;
    for (int i = 0; i < n; i++) {
        int s = 0, t[2] = {0};
        for (int n = 0; n < i; n++) {
            s += n;
            t[n & 1]++;
            {
                int s = 50;
                t[0] += s;
            }
        }
        out[i] = s + 10 * t[0] + 100 * t[1] + v(i);
    }
    out[0] += i;
}

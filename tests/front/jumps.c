// break, continue and return, nested.
// args: n=6 x[36]=3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3,2,3,8,4,6,2,6,4,3,3,8,3,2,7,9,5,0,2,8,8 y[6]=0
static int
find(const int *x, int n, int what)
{
    for (int i = 0; i < n; i++) {
        if (x[i] == 0)
            return -1;
        for (int j = i; j < n; j++) {
            if (j % 4 == 3)
                break;
            if (x[j] == what)
                return i * 10 + j;
        }
    }
    return -2;
}
void
jumps(int n, const int x[n * 6], int y[n])
{
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int j = 0; j < 6; j++) {
            if (x[i * 6 + j] == 9)
                continue;
            int k = 0;
            while (1) {
                if (k++ > x[i * 6 + j])
                    break;
                if (k == 5)
                    goto_next:
                    continue;
                s += k;
            }
            if (s > 40)
                break;
        }
        y[i] = s + 1000 * find(x + i * 6, 6, i + 2);
    }
}

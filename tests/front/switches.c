// Dense, sparse, falling, default in the middle, ranges, nested loops and breaks.
// args: n=12 x[12]=0,1,2,3,4,5,6,7,100,-3,9,2000000000 y[12]=0 z[12]=0 w[12]=0
static int
sparse(int v)
{
    switch (v) {
    default:
        return -1;
    case -3:
    case 2000000000:
        return 7;
    case 4 ... 6:
        return v * v;
    }
}
void
switches(int n, const int x[n], int y[n], int z[n], int w[n])
{
    for (int i = 0; i < n; i++) {
        int r = 0;
        switch (x[i]) {
        case 0:
            r += 1;
        case 1:
            r += 10;
            break;
        default:
            r += 100;
        case 2: {
            int t = 5;
            r += t * 1000;
            break;
        }
        case 3:
            r = -1;
        }
        y[i] = r;
        z[i] = sparse(x[i]);
        switch (x[i] & 3) {
            int t;
        case 0:
            t = 4;
            for (int k = 0; k < 5; k++) {
                if (k == 3)
                    break;
                t += k;
            }
            w[i] = t;
            break;
        case 1:
            if (i > 4)
                break;
            w[i] = 11;
            break;
        case 2:
            continue;
        }
        w[i] += 1000;
    }
}

// Rows that are set anew after they were read, and structs with pointers that are exchanged.
// args: n=3 x[20]=1,2,3,4,5,6,7,8,9,10,11,12 out[3]=0
struct end { double *p; };
void
pointers_refilled(int n, double *x, double out[3])
{
    double *row[4];
    struct end s[2] = {{x}, {x + 5}}, t[2];
    for (int i = 0; i < 4; i++)
        row[i] = x + i * n;
    for (int k = 0; k < 3; k++) {
        row[0][k] += row[3][0];
        for (int i = 0; i < 4; i++)
            row[i] = x + i * n + k;
    }
    t[0] = s[1];
    t[1] = s[0];
    out[0] = t[0].p[1] - t[1].p[0];
    out[1] = t[n % 2].p[2];
    out[2] = *row[2];
}

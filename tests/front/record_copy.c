// Whole records are read, copied and written.
// args: n=3 p.x[3]=1,2,3 p.v[3]=4,5,6
struct pair_xv { double x, v; };
static struct pair_xv
advanced(struct pair_xv p, double dt)
{
    p.x += dt * p.v;
    return p;
}
void
record_copy(int n, struct pair_xv p[n])
{
    struct pair_xv first = p[0];
    for (int i = 0; i + 1 < n; i++)
        p[i] = advanced(p[i + 1], 0.5);
    p[n - 1] = first;
}

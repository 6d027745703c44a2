// args: n=3 p.x[3]=1,2,3 p.v[3]=4,5,6 p.id[3]=0
struct particle { double x, v; int id; };
void
record_fields(int n, struct particle p[n])
{
    for (int i = 0; i < n; i++) {
        p[i].x += 0.5 * p[i].v;
        p[i].id = i * i;
    }
}

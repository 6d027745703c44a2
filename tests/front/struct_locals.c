// args: x[4]=1,2,3,4 out[4]=0
struct state { double a; struct { int n; double b[2]; } in; };
static void
step(struct state *s, double v)
{
    s->a += v;
    s->in.n++;
    s->in.b[s->in.n & 1] += v * v;
}
void
struct_locals(const double x[4], double out[4])
{
    struct state s = {1, {2, {3, 4}}}, old = s, zero = {0};
    for (int i = 0; i < 4; i++)
        step(&s, x[i]);
    out[0] = s.a + s.in.n;
    out[1] = s.in.b[0] - old.in.b[0];
    out[2] = s.in.b[1] * (old = s).in.n;
    out[3] = zero.in.b[1] + old.a;
}

// A struct by value: its fields are scalars of the launch.
// args: q.gain=2 q.at.x=3 q.at.n=4 q.w.0=1 q.w.1=2 out[3]=0
// expect: out=8,6,9
// skip: gcc
struct settings {
    double gain;
    struct { float x; int n; } at;
    double w[2];
};
void
struct_value_param(const struct settings q, double out[3])
{
    out[0] = q.gain * q.at.n;
    out[1] = q.gain * q.at.x;
    for (int i = 0; i < 2; i++)
        out[2] += q.w[i] * (i + 4);
    out[2] -= 5;
}

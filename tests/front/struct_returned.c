// args: n=3 x[3]=0.5,1,2 y[3]=0
struct complex_number { double re, im; };
static struct complex_number
mul(struct complex_number a, struct complex_number b)
{
    return (struct complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static struct complex_number
power(struct complex_number z, int n)
{
    if (n == 0)
        return (struct complex_number){.re = 1};
    struct complex_number r = z;
    for (int i = 1; i < n; i++)
        r = mul(r, z);
    return r;
}
void
struct_returned(int n, const double x[n], double y[n])
{
    for (int i = 0; i < n; i++)
        y[i] = power((struct complex_number){x[i], 1}, i).re + mul(power((struct complex_number){x[i], 2}, 2), (struct complex_number){1, 1}).im;
}

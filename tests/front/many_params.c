// args: a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 x[2]=0
void
many_params(int a, double b, float c, long d, short e, unsigned f, float g, double h, char i, double x[2])
{
    x[0] = a + b + c + d;
    x[1] = e + f + g + h + i;
}

// Constant extents, also through a typedef.
// args: x[4]=1,2,3,4 m[3]={3}
// skip: gcc
typedef double row[3];
void
fixed_extents(double x[static 4], double m[3])
{
    for (int i = 0; i < 3; i++)
        m[i] = x[i] * x[i + 1];
}

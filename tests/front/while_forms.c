// args: n=27 x=0.3 out[5]=0
#include <math.h>
void
while_forms(int n, double x, double out[5])
{
    int steps = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[0] = steps;
    double d;
    while ((d = cos(x) - x) > 1e-6 || d < -1e-6)
        x += 0.5 * d;
    out[1] = x;
    do
        out[2] += 1;
    while (out[2] < 0);
    do {
        if (out[3] > 3)
            continue;
        out[3]++;
        if (out[3] == 2)
            break;
    } while (1);
    while (steps--)
        if (steps % 3)
            continue;
        else
            out[4] += steps;
}

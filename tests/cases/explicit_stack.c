// A depth-first walk with an explicit stack in a local array.
// args: n=7 x[7]=0.5,1.5,-0.4,0.3,0.7,0.9,1.1 y[1]=0
#include <math.h>

void
explicit_stack(int n, const double x[n], double y[1])
{
    int stack[16], top = 0;
    double sum = 0.0, depth[16];
    stack[top] = 0;
    depth[top++] = 1.0;
    while (top > 0) {
        int node = stack[--top];
        double d = depth[top];
        sum += d * x[node];
        for (int c = 2 * node + 2; c > 2 * node; c--)
            if (c < n) {
                stack[top] = c;
                depth[top++] = d * cos(x[node]);
            }
    }
    y[0] = sum;
}

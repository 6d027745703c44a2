// frames forward_vjp: f64
// count forward_vjp plan sqrt 1
// count forward_vjp plan if 3
// count forward_vjp tape tape_room 0
/* An iteration that is undone in full did not break: no flag tells so for each, and what the break's branch
 * computes is undone once, behind the loop. No iteration asks for room: a hundred frames fit a page. */
#include <math.h>
void
break_flag(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < 100; t++) {
            if (v > 3.0) {
                v = v * sqrt(v);
                break;
            }
            v = v + 0.1 * v * v;
        }
        y[i] = v;
    }
}

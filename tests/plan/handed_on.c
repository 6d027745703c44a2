// What an iteration hands on is what the next one begins with: of `h` one number is recorded, though both are read in reverse.
// Of `before` and `last`, which move up, so is one.
// frames forward_vjp: f64 f64
#include <math.h>
void
handed_on(int n, int steps, const double w[2], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double h = x[i], before = x[i], last = 1.0;
        for (int t = 0; t < steps; t++) {
            h = tanh(w[0] * h + w[1]);
            double next = last * before * h;
            before = last;
            last = next;
        }
        y[i] = h + last;
    }
}

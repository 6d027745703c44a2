// Arms of ifs, one of which runs: what each of them records shares the places of a frame. Two are for a sine and its cosine.
// frames forward_vjp: f64 f64 f64
#include <math.h>
void
arms(int n, const int count[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < count[i]; t++) {
            double w;
            if (v > 2.0) {
                double a = sin(v);
                w = a * a * a;
            } else if (v > 1.0) {
                double b = exp(-v);
                w = v * b * b;
            } else {
                double c = cbrt(v);
                w = c * c * c * c + 1.0;
            }
            v = 0.5 * v + w;
        }
        y[i] = v;
    }
}

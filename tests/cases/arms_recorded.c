// Arms of ifs that record, some of them in each other: each reads what it has recorded, whichever ran.
// args: n=19 count[19]=5,0,3,7,1,4,2 x[19]=0.3,1.4,2.6,-0.8,0.9,3.1,1.8 y[19]=0
#include <math.h>

void
arms_recorded(int n, const int count[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < count[i]; t++) {
            double w;
            if (v > 1.0) {
                double a = sin(v), b = v * a;
                w = a * b * b;
                if (w > 0.5) {
                    double c = exp(-w);
                    w = c * c;
                } else {
                    float d = (float)w + 1.0f;
                    w = d * d * w;
                }
            } else {
                double c = sqrt(v * v + 0.1);
                w = c * c * c;
                switch (t % 3) {
                case 0:
                    w *= sin(w);
                    break;
                case 1: {
                    double e = exp(-w);
                    w = e * e;
                    break;
                }
                default:
                    w += 0.25 / (1.0 + w * w);
                }
            }
            v = 0.5 * v + w;
        }
        y[i] = v;
    }
}

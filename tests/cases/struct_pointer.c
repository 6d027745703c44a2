// A pointer to one struct of parameters.
// args: n=3 q.unused_here[1]=9 q.gain[1]=0.7 q.bias[1]=-0.2 q.rounds[1]=3 x[3]=0.5,1.5,-0.4 y[3]=0
#include <math.h>

struct parameters {
    float unused_here;
    double gain, bias;
    int rounds;
};

void
struct_pointer(int n, const struct parameters *q, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < q->rounds; t++)
            v = tanh(q->gain * v + q->bias);
        y[i] = v;
    }
}

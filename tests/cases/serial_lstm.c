// A recurrence over time at kernel level, with local arrays: a GPU runs it as one task.
// args: T=5 d=3 x[5]=0.1,0.2,0.3,0.4,0.5 w[3]=0.5,-0.2,0.7 h[5]=0 loss[1]=0
#include <math.h>
void serial_lstm(int T, int d, const double x[T], const double w[d], double h[T], double loss[1]) {
  double s = 0.3; double st[4] = {0.1,0.2,0.3,0.4};
  for (int t = 0; t < T; t++) {
    double a = x[t];
    for (int k = 0; k < d; k++) a += w[k]*s;
    for (int k = 0; k < 4; k++) st[k] = tanh(st[k] + a*0.1*k);
    s = tanh(a) + st[2];
    h[t] = s;
  }
  double l = 0;
#pragma omp parallel for reduction(+:l)
  for (int t = 0; t < T; t++) l += h[t]*h[t];
  loss[0] += l + s;
}

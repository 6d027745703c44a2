/* Prices of European options. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

static double
normal_cdf(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

void
black_scholes(int n, double rate, const double *spot, const double *strike, const double *years, const double *volatility,
              double *call, double *put)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double spread = volatility[i] * sqrt(years[i]);
        double d1 = (log(spot[i] / strike[i]) + (rate + 0.5 * volatility[i] * volatility[i]) * years[i]) / spread;
        double d2 = d1 - spread;
        double discounted = strike[i] * exp(-rate * years[i]);
        call[i] = spot[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
        put[i] = discounted * normal_cdf(-d2) - spot[i] * normal_cdf(-d1);
    }
}

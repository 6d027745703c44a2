/* Prices of European options. SPDX-License-Identifier: Apache-2.0 */
#include "../both.h"

FUNCTION float
normal_cdf(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

KERNEL
black_scholes(int n, float rate, const float *restrict spot, const float *restrict strike, const float *restrict years,
              const float *restrict volatility, float *restrict call, float *restrict put)
{
    THREADS (i, 0, n) {
        float spread = volatility[i] * sqrtf(years[i]);
        float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility[i] * volatility[i]) * years[i]) / spread;
        float d2 = d1 - spread;
        float discounted = strike[i] * expf(-rate * years[i]);
        call[i] = spot[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
        put[i] = discounted * normal_cdf(-d2) - spot[i] * normal_cdf(-d1);
    }
}

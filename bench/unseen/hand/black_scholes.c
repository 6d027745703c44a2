/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>

void black_scholes(int n, double rate, const double *spot, const double *strike, const double *years,
                   const double *volatility, double *call, double *put);

void
make_black_scholes(bench_problem *p, double scale)
{
    int n = bench_count(80000 * scale);
    bench_int(p, "n", n);
    bench_real(p, "rate", 0.03);
    bench_array(p, "spot", RG_F64, n, 0, 50.0, 150.0);
    bench_array(p, "strike", RG_F64, n, 0, 60.0, 140.0);
    bench_array(p, "years", RG_F64, n, 0, 0.1, 3.0);
    bench_array(p, "volatility", RG_F64, n, 0, 0.1, 0.6);
    bench_output(p, "call", RG_F64, n, 0);
    bench_output(p, "put", RG_F64, n, 0);
}

void
forward_black_scholes(void *const *data)
{
    black_scholes(INT(0), REAL(1), data[2], data[3], data[4], data[5], data[6], data[7]);
}

static double
normal_cdf(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

/* The derivatives are the known ones of the prices: spot * density(d1) = discounted * density(d2). */
void
hand_black_scholes(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    double rate = REAL(1), rate_a = 0.0;
    const double *restrict spot = data[2], *restrict strike = data[3], *restrict years = data[4],
                 *restrict volatility = data[5];
    double *restrict call = data[6], *restrict put = data[7], *restrict spot_a = adjoint[2], *restrict strike_a = adjoint[3];
    double *restrict years_a = adjoint[4], *restrict volatility_a = adjoint[5], *restrict call_a = adjoint[6],
                    *restrict put_a = adjoint[7];
    hand_kept = 0;
    for (int i = 0; i < n; i++) {
        double root = sqrt(years[i]), spread = volatility[i] * root;
        double d1 = (log(spot[i] / strike[i]) + (rate + 0.5 * volatility[i] * volatility[i]) * years[i]) / spread;
        double d2 = d1 - spread, discount = exp(-rate * years[i]), discounted = strike[i] * discount;
        double up1 = normal_cdf(d1), up2 = normal_cdf(d2), down1 = normal_cdf(-d1), down2 = normal_cdf(-d2);
        call[i] = spot[i] * up1 - discounted * up2;
        put[i] = discounted * down2 - spot[i] * down1;
        double c = call_a[i], p = put_a[i], bond = p * down2 - c * up2; /* of the discounted strike */
        double vega = spot[i] * root * 0.3989422804014327 * exp(-0.5 * d1 * d1) * (c + p);
        spot_a[i] += c * up1 - p * down1;
        strike_a[i] += bond * discount;
        volatility_a[i] += vega;
        years_a[i] += 0.5 * vega * volatility[i] / years[i] - rate * discounted * bond;
        rate_a -= years[i] * discounted * bond;
        call_a[i] = put_a[i] = 0.0;
    }
    *(double *)adjoint[1] += rate_a;
}

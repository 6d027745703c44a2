// SPDX-License-Identifier: Apache-2.0
#include "../kernels/black_scholes.c"

// The derivatives are the known ones of the prices: spot * density(d1) = discounted * density(d2).
static __global__ void
adjoint(int n, float rate, const float *__restrict__ spot, const float *__restrict__ strike, const float *__restrict__ years,
        const float *__restrict__ volatility, float *__restrict__ call, float *__restrict__ put, float *__restrict__ spot_a,
        float *__restrict__ strike_a, float *__restrict__ years_a, float *__restrict__ volatility_a, float *__restrict__ call_a,
        float *__restrict__ put_a)
{
    int i = thread_number();
    if (i >= n)
        return;
    float s = spot[i], y = years[i], v = volatility[i], root = sqrtf(y), spread = v * root, c = call_a[i], p = put_a[i];
    float d1 = (logf(s / strike[i]) + (rate + 0.5f * v * v) * y) / spread, d2 = d1 - spread;
    float discount = expf(-rate * y), discounted = strike[i] * discount;
    float up1 = normal_cdf(d1), up2 = normal_cdf(d2), down1 = normal_cdf(-d1), down2 = normal_cdf(-d2);
    float bond = p * down2 - c * up2; // of the discounted strike
    float vega = s * root * 0.39894228f * expf(-0.5f * d1 * d1) * (c + p);
    call[i] = s * up1 - discounted * up2;
    put[i] = discounted * down2 - s * down1;
    spot_a[i] += c * up1 - p * down1;
    strike_a[i] += bond * discount;
    volatility_a[i] += vega;
    years_a[i] += 0.5f * vega * v / y - rate * discounted * bond;
    call_a[i] = 0.0f;
    put_a[i] = 0.0f;
}

static void
primal(const hand_run &r)
{
    HAND_LAUNCH(black_scholes, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.real(1), r.floats(2), r.floats(3), r.floats(4), r.floats(5), r.floats(6), r.floats(7)));
}

static void
gradient(const hand_run &r)
{
    HAND_LAUNCH(adjoint, blocks_for(r.whole(0)), BLOCK,
                (r.whole(0), r.real(1), r.floats(2), r.floats(3), r.floats(4), r.floats(5), r.floats(6), r.floats(7), r.adjoints(2),
                 r.adjoints(3), r.adjoints(4), r.adjoints(5), r.adjoints(6), r.adjoints(7)));
}

extern const hand_kernel hand_black_scholes;
const hand_kernel hand_black_scholes = {"black_scholes", primal, gradient, NULL};

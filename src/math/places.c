/* Functions of two results for callers that pass places for them. SPDX-License-Identifier: Apache-2.0 */
#include "math/rgm.h"

void
rgm_sincos_places(double x, double *sine, double *cosine)
{
    rgm_pair r = rgm_sincos(x);
    *sine = r.sine;
    *cosine = r.cosine;
}

void
rgm_sincosf_places(float x, float *sine, float *cosine)
{
    rgm_pairf r = rgm_sincosf(x);
    *sine = r.sine;
    *cosine = r.cosine;
}

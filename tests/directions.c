/* See directions.h. SPDX-License-Identifier: Apache-2.0 */
#include "directions.h"

#include <math.h>
#include <stdlib.h>

enum { N = 3, PLANES = 4 };


/* a form, and which of its planes have directions: bit p for plane p */
typedef struct trial {
    const char *name;
    rg_form form;
    bool after_forward; /* split: the forward launch comes first, and it may be refused */
    unsigned several;
    bool always;
} trial;

static const trial trials[] = {
    {"forward_vjp", RG_FORWARD_VJP, false, 1u << 1, false},
    {"vjp", RG_VJP, true, 1u << 1, true},
    {"jvp", RG_JVP, false, 1u << 2, true},
    {"jvp_vjp", RG_JVP_VJP, true, 1u << 2 | 1u << 3, false},
    {"jvp_vjp, pairs", RG_JVP_VJP, true, 1u << 1 | 1u << 2 | 1u << 3, false},
    {"jvp_forward_vjp", RG_JVP_FORWARD_VJP, false, 1u << 2 | 1u << 3, true},
    {"jvp_forward_vjp, adjoints", RG_JVP_FORWARD_VJP, false, 1u << 1 | 1u << 3, false},
};

static uint32_t
count_of(const trial *t, unsigned plane)
{
    return t->several >> plane & 1 ? N : 1;
}

/* what direction d starts from */
static double
start(const input *p, unsigned plane, size_t i, unsigned d)
{
    double v = hash_unit(p->name, i, 100 * plane + d);
    return plane == 3 ? 0.0 : p->param.dtype == RG_F32 ? (double)(float)v : v;
}

static void
set_direction(inputs *in, const trial *t, unsigned d)
{
    for (uint32_t k = 0; k < in->count; k++)
        for (size_t i = 0; in->at[k].seed && i < in->at[k].count; i++) {
            in->at[k].seed[i] =
                start(&in->at[k], RG_ADJOINT, i, count_of(t, RG_ADJOINT) > 1 ? d : 0);
            in->at[k].tangent[i] =
                start(&in->at[k], RG_TANGENT, i, count_of(t, RG_TANGENT) > 1 ? d : 0);
        }
}

static rg_status
run_one(inputs *in, subject *s, const trial *t)
{
    rg_status status = subject_reset(s, in);
    if (!status && t->after_forward)
        status = rg_launch(s->queue, s->args, RG_FORWARD);
    return status ? status : rg_launch(s->queue, s->args, t->form);
}

/* where element i of direction d lies, of n */
static size_t
place(const input *p, bool side_by_side, size_t n, unsigned d, size_t i)
{
    return side_by_side ? i * n + d : d * p->count + i;
}

/* -- all directions at once
 * ------------------------------------------------------------------------ */

static rg_status
require(const inputs *in, subject *s, const trial *t)
{
    rg_status status = RG_OK;
    for (uint32_t k = 0; k < in->count && !status; k++)
        for (unsigned plane = 1; in->at[k].seed && plane < PLANES && !status; plane++)
            status = rg_array_require_directions(s->queue, s->arrays[k], plane, count_of(t, plane));
    return status;
}

static rg_status
write_starts(const inputs *in, subject *s, const trial *t, bool side_by_side)
{
    rg_status status = RG_OK;
    for (uint32_t k = 0; k < in->count; k++)
        for (unsigned plane = 1; in->at[k].seed && plane < PLANES && !status; plane++) {
            const input *p = &in->at[k];
            rg_dtype dtype = p->param.dtype;
            size_t n = count_of(t, plane), size = rg_dtype_size(dtype);
            char *data = calloc(n * p->count + 1, 8);
            for (unsigned d = 0; d < n; d++)
                for (size_t i = 0; i < p->count; i++)
                    element_set(dtype, data, place(p, side_by_side, n, d, i),
                                start(p, plane, i, d));
            status = rg_array_write(s->queue, s->arrays[k], plane, data, n * p->count * size);
            free(data);
        }
    return status;
}

static rg_status
run_several(inputs *in, subject *s, const trial *t, bool side_by_side)
{
    /* the primals, while companions are as the inputs expect them */
    for (uint32_t k = 0; k < in->count; k++) {
        for (unsigned plane = 1; in->at[k].seed && plane < PLANES; plane++)
            if (rg_array_require_directions(s->queue, s->arrays[k], plane, 1))
                return RG_INVALID;
        if (in->at[k].seed && rg_array_set_side_by_side(s->arrays[k], side_by_side))
            return RG_INVALID;
    }
    rg_status status = subject_reset(s, in);
    if (!status)
        status = require(in, s, t);
    if (!status)
        status = write_starts(in, s, t, side_by_side);
    if (!status && t->after_forward)
        status = rg_launch(s->queue, s->args, RG_FORWARD);
    return status ? status : rg_launch(s->queue, s->args, t->form);
}

/* -- comparing
 * ----------------------------------------------------------------------------------------- */

static bool
agrees(double a, double b, double limit)
{
    if (!isfinite(a) || !isfinite(b))
        return a == b || (isnan(a) && isnan(b));
    return fabs(a - b) <= limit;
}

static bool
compare_array(const input *p, const subject *several, uint32_t k, const trial *t, unsigned plane,
              bool side_by_side, unsigned d, const double *want, double tolerance, report *r)
{
    size_t size = rg_dtype_size(p->param.dtype), n = count_of(t, plane);
    char *raw = calloc(n * p->count + 1, 8);
    bool good = !rg_array_read(several->queue, several->arrays[k], plane, raw, n * p->count * size);
    double most = 1.0;
    for (size_t i = 0; i < p->count; i++)
        most = isfinite(want[i]) ? fmax(most, fabs(want[i])) : most;
    for (size_t i = 0; i < p->count && good; i++) {
        double got = element_get(p->param.dtype, raw, place(p, side_by_side, n, n > 1 ? d : 0, i));
        if (!agrees(got, want[i], tolerance * most))
            good = complain(r,
                            "%s in %d directions%s: plane %u of %s, direction %u, element %zu: "
                            "%.17g, not %.17g",
                            t->name, N, side_by_side ? ", side by side" : "", plane, p->name, d, i,
                            got, want[i]);
    }
    free(raw);
    return good;
}

static bool
compare(const inputs *in, const subject *one, const subject *several, const trial *t,
        bool side_by_side, unsigned d, double tolerance, report *r)
{
    bool good = true;
    for (unsigned plane = 0; plane < PLANES && good; plane++) {
        kept k;
        kept_take(&k, in, one, plane);
        for (uint32_t i = 0; i < in->count && good; i++)
            if (k.at[i])
                good = compare_array(&in->at[i], several, i, t, plane, side_by_side, d, k.at[i],
                                     tolerance, r);
        kept_free(&k);
    }
    return good;
}

static bool
check_trial(inputs *in, subject *one, subject *several, const trial *t, bool side_by_side,
            double tolerance, report *r)
{
    bool good = true;
    rg_status status = run_several(in, several, t, side_by_side);
    if (status == RG_COMPILE && t->after_forward)
        return true;
    if (status)
        return complain(r, "%s in %d directions: %s", t->name, N, rg_error_message());
    for (unsigned d = 0; d < N && good; d++) {
        set_direction(in, t, d);
        if (run_one(in, one, t))
            good = complain(r, "%s: %s", t->name, rg_error_message());
        good = good && compare(in, one, several, t, side_by_side, d, tolerance, r);
    }
    return good;
}

bool
check_directions(inputs *in, subject *one, subject *several, bool all, double tolerance, report *r)
{
    bool any = false;
    for (uint32_t k = 0; k < in->count; k++)
        any |= in->at[k].seed != NULL;
    if (!any)
        return true;
    if (subject_require_second(one, in) || subject_require_second(several, in))
        return complain(r, "directions: %s", rg_error_message());
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        for (unsigned side_by_side = 0; side_by_side < 2; side_by_side++)
            if ((all || (trials[i].always && side_by_side == i % 2)) &&
                !check_trial(in, one, several, &trials[i], side_by_side, tolerance, r))
                return false;
    return true;
}

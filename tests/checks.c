/* See checks.h. SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool
complain(report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    return false;
}

static bool
same(double a, double b, double limit)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b) || limit == 0.0)
        return a == b && signbit(a) == signbit(b);
    return fabs(a - b) <= limit;
}

static double
largest(const double *v, size_t n)
{
    double m = 1.0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(v[i]))
            m = fmax(m, fabs(v[i]));
    return m;
}

static bool
compare(const input *p, const double *a, const double *b, double tolerance, const char *what,
        report *r)
{
    double limit = tolerance * largest(a, p->count);
    for (size_t i = 0; i < p->count; i++)
        if (!same(a[i], b[i], limit))
            return complain(r, "%s: %s, element %zu: %.17g and %.17g", what, p->name, i, a[i],
                            b[i]);
    return true;
}

/* Bit by bit, but for NaNs. */
bool
check_bits(const input *p, const void *a, const void *b, const char *what, report *r)
{
    size_t size = rg_dtype_size(p->param.dtype);
    for (size_t i = 0; i < p->count; i++) {
        const char *x = (const char *)a + i * size, *y = (const char *)b + i * size;
        double u = element_get(p->param.dtype, a, i), v = element_get(p->param.dtype, b, i);
        if (memcmp(x, y, size) != 0 && !(isnan(u) && isnan(v)))
            return complain(r, "%s: %s, element %zu: %.17g and %.17g", what, p->name, i, u, v);
    }
    return true;
}

bool
check_near(const input *p, const void *a, const void *b, const char *what, report *r)
{
    double *x = calloc(p->count + 1, sizeof *x), *y = calloc(p->count + 1, sizeof *y);
    for (size_t i = 0; i < p->count; i++) {
        x[i] = element_get(p->param.dtype, a, i);
        y[i] = element_get(p->param.dtype, b, i);
    }
    double tolerance = p->param.dtype == RG_F16 ? 1e-2 : p->param.dtype == RG_F32 ? 1e-5 : 1e-12;
    bool good = compare(p, x, y, dtype_is_float(p->param.dtype) ? tolerance : 0.0, what, r);
    free(x);
    free(y);
    return good;
}

static bool
check_raw(const inputs *in, const subject *a, const subject *b, unsigned plane, bool near, const char *what,
          report *r)
{
    bool good = true;
    for (uint32_t k = 0; k < in->count && good; k++) {
        void *x = calloc(in->at[k].count + 1, 8), *y = calloc(in->at[k].count + 1, 8);
        if (subject_read_raw(a, in, k, plane, x) && subject_read_raw(b, in, k, plane, y))
            good = (near ? check_near : check_bits)(&in->at[k], x, y, what, r);
        free(x);
        free(y);
    }
    return good;
}

bool
check_planes(const inputs *in, const subject *a, const subject *b, unsigned plane, double tolerance,
             const char *what, report *r)
{
    kept k;
    if (tolerance == 0.0)
        return check_raw(in, a, b, plane, false, what, r);
    kept_take(&k, in, a, plane);
    bool good = check_kept(in, b, plane, &k, tolerance, what, r);
    kept_free(&k);
    return good;
}

bool
check_planes_near(const inputs *in, const subject *a, const subject *b, unsigned plane, const char *what, report *r)
{
    return check_raw(in, a, b, plane, true, what, r);
}

void
kept_take(kept *k, const inputs *in, const subject *s, unsigned plane)
{
    *k = (kept){0};
    for (uint32_t p = 0; p < in->count; p++) {
        k->at[p] = calloc(in->at[p].count + 1, sizeof(double));
        if (!subject_read(s, in, p, plane, k->at[p])) {
            free(k->at[p]);
            k->at[p] = NULL;
        }
    }
}

void
kept_free(kept *k)
{
    for (uint32_t p = 0; p < SUBJECT_PARAMS; p++)
        free(k->at[p]);
    *k = (kept){0};
}

bool
check_kept(const inputs *in, const subject *s, unsigned plane, const kept *k, double tolerance,
           const char *what, report *r)
{
    bool good = true;
    for (uint32_t p = 0; p < in->count && good; p++) {
        double *now = calloc(in->at[p].count + 1, sizeof(double));
        if (k->at[p] && subject_read(s, in, p, plane, now))
            good = compare(&in->at[p], k->at[p], now, tolerance, what, r);
        free(now);
    }
    return good;
}

static bool
fail(report *r, const char *what)
{
    return complain(r, "%s: %s", what, rg_error_message());
}

bool
check_duality(const inputs *in, subject *s, double tolerance, double *worst, report *r)
{
    kept adjoint, tangent;
    double left = 0.0, right = 0.0, size_a = 0.0, size_u = 0.0, size_t_ = 0.0, size_w = 0.0;
    if (subject_reset(s, in) || subject_run(s, FORWARD_VJP))
        return fail(r, "forward_vjp");
    kept_take(&adjoint, in, s, RG_ADJOINT);
    if (subject_reset(s, in) || subject_run(s, JVP)) {
        kept_free(&adjoint);
        return fail(r, "jvp");
    }
    kept_take(&tangent, in, s, RG_TANGENT);
    for (uint32_t p = 0; p < in->count; p++)
        for (size_t i = 0; adjoint.at[p] && i < in->at[p].count; i++) {
            double a = adjoint.at[p][i], u = in->at[p].tangent[i];
            double w = in->at[p].seed[i], t = tangent.at[p][i];
            left += a * u;
            right += w * t;
            size_a += a * a;
            size_u += u * u;
            size_t_ += t * t;
            size_w += w * w;
        }
    kept_free(&adjoint);
    kept_free(&tangent);
    double size = fmax(sqrt(size_a) * sqrt(size_u), sqrt(size_t_) * sqrt(size_w));
    double error = size > 0.0 ? fabs(left - right) / size : fabs(left - right);
    if (worst)
        *worst = error;
    if (error > tolerance || isnan(error) != (isnan(left) || isinf(left)))
        return complain(r, "duality: <vjp(w), u> = %.17g, <w, jvp(u)> = %.17g, off by %.3g", left,
                        right, error);
    return true;
}

/* <w, memory after>, over the outputs' and all other arrays' elements; scalars keep theirs. */
static bool
loss(const inputs *in, subject *s, double *out)
{
    *out = 0.0;
    if (subject_reset(s, in) || subject_run(s, FORWARD))
        return false;
    for (uint32_t p = 0; p < in->count; p++) {
        const input *q = &in->at[p];
        double *v = calloc(q->count + 1, sizeof(double));
        if (q->seed && subject_read(s, in, p, RG_PRIMAL, v))
            for (size_t i = 0; i < q->count; i++)
                *out += q->seed[i] * v[i];
        else if (q->seed)
            *out += q->seed[0] * element_get(q->param.dtype, q->initial, 0);
        free(v);
    }
    return true;
}

static bool
difference(inputs *in, subject *s, input *q, size_t i, double *slope)
{
    double x = element_get(q->param.dtype, q->initial, i), value[2];
    double h = 6e-6 * fmax(1.0, fabs(x));
    for (int side = 0; side < 2; side++) {
        input_set(q, i, side ? x + h : x - h);
        bool ran = loss(in, s, &value[side]);
        input_set(q, i, x);
        if (!ran)
            return false;
    }
    *slope = (value[1] - value[0]) / (2.0 * h);
    return true;
}

bool
check_differences(inputs *in, subject *s, double tolerance, report *r)
{
    kept adjoint;
    double most = 1.0, slope;
    bool good = true;
    if (subject_reset(s, in) || subject_run(s, FORWARD_VJP))
        return fail(r, "forward_vjp");
    kept_take(&adjoint, in, s, RG_ADJOINT);
    for (uint32_t p = 0; p < in->count; p++)
        if (adjoint.at[p])
            most = fmax(most, largest(adjoint.at[p], in->at[p].count));
    for (uint32_t p = 0; p < in->count && good; p++) {
        input *q = &in->at[p];
        if (!adjoint.at[p] || q->param.result)
            continue;
        for (size_t i = 0; i < q->count && good; i++) {
            if (!difference(in, s, q, i, &slope))
                good = fail(r, "forward");
            else if (!(fabs(slope - adjoint.at[p][i]) <= tolerance * most))
                good = complain(r, "differences: %s, element %zu: gradient %.12g, difference %.12g",
                                q->name, i, adjoint.at[p][i], slope);
        }
    }
    kept_free(&adjoint);
    return good;
}

/* Moves every float of the inputs by step * its tangent. */
static void
move(inputs *in, double step)
{
    for (uint32_t p = 0; p < in->count; p++) {
        input *q = &in->at[p];
        for (size_t i = 0; q->seed && !q->param.result && i < q->count; i++)
            input_set(q, i, element_get(q->param.dtype, q->initial, i) + step * q->tangent[i]);
    }
}

static bool
moved_gradient(inputs *in, subject *s, double step, kept *out)
{
    move(in, step);
    bool ran = !subject_reset(s, in) && !subject_run(s, FORWARD_VJP);
    kept_take(out, in, s, RG_ADJOINT);
    move(in, -step);
    return ran;
}

bool
check_second(inputs *in, subject *s, double tolerance, report *r)
{
    const double h = 1e-5;
    kept product, before, after;
    double most = 1.0;
    if (subject_require_second(s, in) || subject_reset(s, in) || subject_run(s, JVP_FORWARD_VJP))
        return fail(r, "jvp of the gradient");
    kept_take(&product, in, s, RG_ADJOINT | RG_TANGENT);
    bool good = moved_gradient(in, s, -h, &before);
    good = moved_gradient(in, s, h, &after) && good;
    if (!good)
        fail(r, "gradient");
    for (uint32_t p = 0; p < in->count && good; p++)
        if (product.at[p])
            most = fmax(most, largest(product.at[p], in->at[p].count));
    for (uint32_t p = 0; p < in->count && good; p++)
        for (size_t i = 0; product.at[p] && i < in->at[p].count && good; i++) {
            double slope = (after.at[p][i] - before.at[p][i]) / (2.0 * h);
            if (!(fabs(slope - product.at[p][i]) <= tolerance * most))
                good = complain(r, "second derivative: %s, element %zu: %.12g, difference %.12g",
                                in->at[p].name, i, product.at[p][i], slope);
        }
    kept_free(&product);
    kept_free(&before);
    kept_free(&after);
    return good;
}

static bool
product_with(inputs *in, subject *s, unsigned salt, kept *out)
{
    for (uint32_t p = 0; p < in->count; p++)
        for (size_t i = 0; in->at[p].seed && i < in->at[p].count; i++) {
            double u = hash_unit(in->at[p].name, i, salt);
            in->at[p].tangent[i] = in->at[p].param.dtype == RG_F32 ? (double)(float)u : u;
        }
    bool ran = !subject_reset(s, in) && !subject_run(s, JVP_FORWARD_VJP);
    kept_take(out, in, s, RG_ADJOINT | RG_TANGENT);
    return ran;
}

bool
check_symmetry(inputs *in, subject *s, double tolerance, report *r)
{
    kept one = {{0}}, other = {{0}};
    double left = 0.0, right = 0.0, size_product = 0.0, size_u = 0.0;
    bool good = !subject_require_second(s, in) && product_with(in, s, 3, &other) &&
                product_with(in, s, 2, &one);
    if (!good)
        fail(r, "jvp of the gradient");
    for (uint32_t p = 0; p < in->count && good; p++)
        for (size_t i = 0; one.at[p] && i < in->at[p].count; i++) {
            double u = in->at[p].tangent[i], v = hash_unit(in->at[p].name, i, 3);
            if (in->at[p].param.dtype == RG_F32)
                v = (float)v;
            left += v * one.at[p][i];
            right += u * other.at[p][i];
            size_product += one.at[p][i] * one.at[p][i] + other.at[p][i] * other.at[p][i];
            size_u += u * u + v * v;
        }
    double size = sqrt(size_product) * sqrt(size_u);
    if (good && !(fabs(left - right) <= tolerance * size))
        good = complain(r, "symmetry: <v, H u> = %.17g, <u, H v> = %.17g, off by %.3g", left, right,
                        fabs(left - right) / size);
    kept_free(&one);
    kept_free(&other);
    return good;
}

/* For kernel files: derivatives of functions, inside of kernels. SPDX-License-Identifier: Apache-2.0
 *
 * Arguments stand in brackets as in a call, and beside them, in the same order, what each one's derivative
 * is: 0 where there is none (integers always).
 *
 *   rg_grad(f, (x, p, n), (&gx, gp, 0))      Stores the gradient of f(x, p, n), a float, by x and p: into gx,
 *                                            and into as many elements of gp as p has. Returns f's value.
 *   rg_vjp(f, (x, p, n), seed, (&gx, gp, 0)) The reverse of the call. Adds seed times the gradient to what gx
 *                                            and gp hold. What p points to, if f's parameter is not const, is an
 *                                            output too: gp holds its adjoint after the call before, and
 *                                            before the call after. Returns f's value; f may be void (seed 0).
 *   rg_jvp(f, (x, p, n), (dx, dp, 0))        Returns the derivative of f along the direction dx, dp[]. What f
 *                                            writes to p[], if p is not const, has its tangent in dp[] after.
 *
 * f is a function of scalars, structs, and pointers to local arrays or to rows of arrays; what it calls may use
 * derivatives in its turn, and a kernel that uses derivatives can be differentiated like any other.
 *
 *   RG_CUSTOM_VJP(f, f_vjp);                 At file scope: f's reverse is f_vjp, which is called with f's
 *                                            arguments, f's value and the adjoint of it (both not if f is
 *                                            void), and a pointer for the adjoint of each float argument:
 *       double f(double x, const double *p, int n);
 *       void f_vjp(double x, const double *p, int n, double value, double seed, double *gx, double *gp);
 *                                            They point to zeros, or, where f's parameter is not const, to the
 *                                            adjoints of what f left there; f_vjp replaces those.
 *   RG_CUSTOM_JVP(f, f_jvp);                 f's forward derivative: arguments, value, and the tangent of each
 *                                            float argument; it returns the tangent of the value:
 *       double f_jvp(double x, const double *p, int n, double value, double dx, const double *dp);
 *                                            One of the two is enough for both modes.
 *
 * Other compilers compile these files too: there the derivatives end the program with a message. */
#ifndef RETROGRAD_KERNEL_H
#define RETROGRAD_KERNEL_H

#define __RG_LIST(...) __VA_ARGS__

#ifdef __RETROGRAD__
double __rg_grad(int, ...);
double __rg_vjp(int, ...);
double __rg_jvp(int, ...);
#define rg_grad(f, args, grads) ((__typeof__(f args))__rg_grad(((void)f args, 0), __RG_LIST grads))
#define rg_vjp(f, args, seed, adjoints)                                                            \
    ((__typeof__(f args))__rg_vjp(((void)f args, 0), seed, __RG_LIST adjoints))
#define rg_jvp(f, args, tangents)                                                                  \
    ((__typeof__(f args))__rg_jvp(((void)f args, 0), __RG_LIST tangents))
#else

#include <stdio.h>
#include <stdlib.h>

__attribute__((unused, noinline, noreturn)) static double
__rg_absent(const char *what, const char *function, const char *file, int line,
            void (*called)(void), ...)
{
    (void)called;
    fflush(stdout);
    fprintf(stderr, "%s:%d: %s(%s): only Retrograd makes derivatives; this file was compiled without it\n",
            file, line, what, function);
    abort();
}

#define rg_grad(f, args, grads)                                                                    \
    ((__typeof__(f args))__rg_absent("rg_grad", #f, __FILE__, __LINE__, (void (*)(void))f, __RG_LIST grads))
#define rg_vjp(f, args, seed, adjoints)                                                            \
    ((__typeof__(f args))__rg_absent("rg_vjp", #f, __FILE__, __LINE__, (void (*)(void))f, seed, __RG_LIST adjoints))
#define rg_jvp(f, args, tangents)                                                                  \
    ((__typeof__(f args))__rg_absent("rg_jvp", #f, __FILE__, __LINE__, (void (*)(void))f, __RG_LIST tangents))
#endif

/* a variable that names both functions: what it is called says what they are to each other */
#define __RG_OWN(mode, f, g)                                                                       \
    __attribute__((unused)) static void (*const __rg_own_##mode##_##f[2])(void) = {                \
        (void (*)(void))f, (void (*)(void))g}
#define RG_CUSTOM_VJP(f, f_vjp) __RG_OWN(vjp, f, f_vjp)
#define RG_CUSTOM_JVP(f, f_jvp) __RG_OWN(jvp, f, f_jvp)

#endif

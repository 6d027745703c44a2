/* Several directions in one launch: how many there are, and in how many pieces they are launched.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Code is made for a number of directions. More than BLOCK are launched block after block, each
 * with its planes' beginnings moved on; blocks differ by one direction at most, so that two
 * variants serve all of them. That is exact only where a launch changes nothing that the next block
 * reads. */
#include "api/api.h"

enum { BLOCK = 16 };

static const char *
plane_of(unsigned plane)
{
    return plane == RG_ADJOINT   ? "the adjoint"
           : plane == RG_TANGENT ? "the tangent"
                                 : "the adjoint's tangent";
}

static uint32_t
has(const rg_args *args, uint32_t i, unsigned plane)
{
    const rg_array *a = args->slots[i].array;
    return a && a->plane[plane] ? a->directions[plane] : 0;
}

/* How many there are of a plane (1 if nobody has it); all that have it have the same number. */
static rg_status
count_plane(const rg_args *args, rg_form form, unsigned plane, uint32_t *n,
            uint32_t *first_of)
{
    const rg_kernel *k = args->kernel;
    uint32_t first = k->nparams;
    *n = 1;
    *first_of = first;
    for (uint32_t i = 0; i < k->nparams; i++) {
        uint32_t mine = has(args, i, plane);
        if (mine && first == k->nparams) {
            first = *first_of = i;
            *n = mine;
        } else if (mine && mine != *n) {
            return api_error(RG_INVALID,
                             "kernel `%s` (%s): %s of `%s` has %u directions, that of `%s` %u; all "
                             "that take part have the same number",
                             k->fn->name, pipeline_form_name(form), plane_of(plane),
                             k->params[first].name.ptr, *n, k->params[i].name.ptr, mine);
        }
    }
    return RG_OK;
}

/* Directions of a plane lie as those of parameter `like` do. */
static rg_status
check_layout(const rg_args *args, rg_form form, unsigned plane, uint32_t like)
{
    const rg_kernel *k = args->kernel;
    for (uint32_t i = 0; i < k->nparams; i++)
        if (has(args, i, plane) > 1 &&
            args->slots[i].array->side_by_side != args->slots[like].array->side_by_side)
            return api_error(
                RG_INVALID,
                "kernel `%s` (%s): directions of `%s` lie side by side, those of `%s` do "
                "not",
                k->fn->name, pipeline_form_name(form),
                k->params[args->slots[i].array->side_by_side ? i : like].name.ptr,
                k->params[args->slots[i].array->side_by_side ? like : i].name.ptr);
    return RG_OK;
}

/* The product of a Hessian is along each of n tangents, or of n adjoints, or n pairs of them. */
static rg_status
check_products(const rg_args *args, rg_form form, const uint32_t *of)
{
    uint32_t adjoints = of[RG_ADJOINT], tangents = of[RG_TANGENT];
    uint32_t products = of[RG_ADJOINT | RG_TANGENT];
    uint32_t most = adjoints > tangents ? adjoints : tangents;
    if (adjoints > 1 && tangents > 1 && adjoints != tangents)
        return api_error(
            RG_INVALID,
            "kernel `%s` (%s): adjoints have %u directions and tangents %u: either may "
            "have one, or both the same number",
            args->kernel->fn->name, pipeline_form_name(form), adjoints, tangents);
    for (uint32_t i = 0; i < args->kernel->nparams && products != most; i++)
        if (has(args, i, RG_ADJOINT | RG_TANGENT))
            return api_error(
                RG_INVALID,
                "kernel `%s` (%s): the adjoint's tangent of `%s` has %u directions; here "
                "it needs %u, as many as adjoints or tangents have",
                args->kernel->fn->name, pipeline_form_name(form), args->kernel->params[i].name.ptr,
                products, most);
    return RG_OK;
}

rg_status
api_count_directions(const rg_args *args, rg_form form, uint32_t of[RG_PLANE_COUNT],
                     bool *side_by_side)
{
    static const unsigned planes[] = {RG_ADJOINT, RG_TANGENT, RG_ADJOINT | RG_TANGENT};
    bool reverse = form != RG_FORWARD && form != RG_JVP, forward = form >= RG_JVP;
    uint32_t none = args->kernel->nparams, like = none, first;
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        of[plane] = 1;
    *side_by_side = false;
    for (size_t i = 0; i < countof(planes); i++) {
        bool used =
            (!(planes[i] & RG_ADJOINT) || reverse) && (!(planes[i] & RG_TANGENT) || forward);
        if (!used)
            continue;
        rg_status status = count_plane(args, form, planes[i], &of[planes[i]], &first);
        if (!status && like == none && of[planes[i]] > 1)
            like = first;
        if (!status && like < none)
            status = check_layout(args, form, planes[i], like);
        if (status)
            return status;
    }
    if (like < none)
        *side_by_side = args->slots[like].array->side_by_side;
    if (!reverse || !forward)
        return RG_OK;
    rg_status status = check_products(args, form, of);
    /* temporaries' planes have them even if no argument has */
    of[RG_ADJOINT | RG_TANGENT] = of[RG_ADJOINT] > of[RG_TANGENT] ? of[RG_ADJOINT] : of[RG_TANGENT];
    return status;
}

rg_status
api_count_blocks(const rg_args *args, rg_form form, const uint32_t *of, api_choice *choice)
{
    uint32_t n = 1;
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        n = of[plane] > n ? of[plane] : n;
    /* a reverse sweep consumes adjoints: each block needs its own */
    bool repeats = form == RG_VJP || (form == RG_JVP_VJP && of[RG_ADJOINT] == n);
    repeats = repeats && !choice->side_by_side;
    if (!repeats && n > IR_DIRECTIONS)
        return api_error(
            RG_INVALID,
            "kernel `%s` (%s): %u directions in one launch are too many, at most %d%s\n"
            "launch several times, or the split gradient (RG_VJP) with copies of "
            "arrays, which takes any number",
            args->kernel->fn->name, pipeline_form_name(form), n, IR_DIRECTIONS,
            choice->side_by_side ? " side by side" : ": its effects happen once");
    choice->directions = n;
    choice->blocks = repeats ? (n + BLOCK - 1) / BLOCK : 1;
    return RG_OK;
}

void
api_block_args(const rg_args *args, const uint32_t *of, uint32_t first, rt_arg *block)
{
    memcpy(block, args->packed, args->kernel->nparams * sizeof(*block));
    for (uint32_t i = 0; i < args->kernel->nparams; i++) {
        const rg_array *a = args->slots[i].array;
        for (unsigned plane = 1; a && plane < RG_PLANE_COUNT; plane++)
            if (block[i].plane[plane] && of[plane] > 1)
                block[i].plane[plane] =
                    (char *)block[i].plane[plane] +
                    first * (size_t)rt_layout_count(&a->layout) * a->layout.size;
    }
}

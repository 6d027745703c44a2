/* See tape.h. SPDX-License-Identifier: Apache-2.0 */
#include "run.h"
#include "tape.h"

#include "front/c/front_c.h"
#include "pipeline/pipeline.h"
#include "rt/interp/interp.h"

/* the hand-written version's memory, as a launch wants it */
static void
fill_arguments(const bench_problem *p, rt_arg *args)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const bench_param *q = &p->params[k];
        int64_t stride = 1;
        args[k] = (rt_arg){.plane[RG_ADJOINT] = q->adjoint};
        if (q->scalar) {
            memcpy(&args[k].bits, q->initial, rg_dtype_size(q->dtype));
            continue;
        }
        args[k].plane[RG_PRIMAL] = q->data;
        for (uint32_t axis = q->rank; axis-- > 0; stride *= q->shape[axis]) {
            args[k].extent[axis] = q->shape[axis];
            args[k].stride[axis] = stride;
        }
    }
}

static int64_t
run_lowered(bench_problem *p, const ir_fn *fn)
{
    rt_arg args[BENCH_PARAMS];
    interp_report report;
    bench_problem_reset(p);
    fill_arguments(p, args);
    if (interp_run(fn, args, NULL, &report) == RT_OK)
        return report.tape_bytes;
    fprintf(stderr, "bench: %s: %s\n", p->kernel, report.message);
    return -1;
}

static int64_t
recorded(bench_problem *p, const char *file, unsigned lanes)
{
    diag_list diags = {0};
    pipeline_options options = {.form = RG_FORWARD_VJP, .contraction = true, .stage = IR_STAGE_SLOTS, .lanes = lanes};
    ir_module *source = NULL, *lowered = NULL;
    ir_fn *fn = NULL;
    ir_module *module = front_c_compile(&(front_c_source){.path = file, .kernel = p->kernel}, &diags);
    const ir_fn *kernel = module ? ir_fn_find(module, rg_str_of(p->kernel)) : NULL;
    if (kernel)
        source = pipeline_source(kernel, &options, &diags);
    if (source)
        lowered = pipeline_run(source->first, &options, &diags, &fn);
    int64_t bytes = lowered ? run_lowered(p, fn) : -1;
    if (diags.errors)
        fputs(diags.text.ptr, stderr);
    ir_module_free(lowered);
    ir_module_free(source);
    ir_module_free(module);
    diag_free(&diags);
    return bytes;
}

bench_tapes
bench_tapes_of(bench_problem *p, const char *file, unsigned lanes)
{
    hand_kept = 0;
    bench_time_hand(p);
    size_t hand = hand_kept;
    return (bench_tapes){recorded(p, file, lanes), (int64_t)hand};
}

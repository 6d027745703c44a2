/* A kernel as a SPIR-V module: values, and the walk over regions. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/spirv/gen.h"

enum { OUR_ERROR = 920, MODE_DENORM = 4459, MODE_KEEPS = 4461, MODE_RTE = 4462 };

void
sv_refuse(gen *g, const ir_op *op, const char *format, ...)
{
    va_list args;
    char text[160];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!g->failed)
        diag_add(g->diags, DIAG_ERROR, OUR_ERROR, op ? ir_place(g->kernel->module, op->loc) : (diag_place){0}, "%s: %s",
                 g->options->platform ? g->options->platform : "Vulkan", text);
    g->failed = true;
}

/* -- types and small things ------------------------------------------------------------------------------------------ */

spv_id
sv_register(gen *g, rg_dtype d)
{
    switch ((int)d) {
    case RG_BOOL:
        return g->truth;
    case RG_F16:
    case RG_F32:
        return g->f32;
    case RG_F64:
        if (!(g->options->features & SPIRV_FLOAT64))
            return g->u64;
        if (!g->f64) {
            g->f64 = spv_float(&g->s, 64);
            spv_capability(&g->s, SPV_CAP_FLOAT64);
            g->code.uses |= SPIRV_FLOAT64;
        }
        return g->f64;
    case RG_I64:
    case RG_U64:
        return g->u64;
    }
    return g->u32;
}

spv_id
sv_type(gen *g, ir_type t)
{
    return t.kind == IR_SCALAR ? sv_register(g, (rg_dtype)t.dtype) : g->u64;
}

spv_id
sv_u32(gen *g, uint32_t v)
{
    return spv_u32(&g->s, v);
}

spv_id
sv_u64(gen *g, uint64_t v)
{
    return spv_u64(&g->s, v);
}

spv_id
sv_const(gen *g, rg_dtype d, uint64_t bits)
{
    spv_id type = sv_register(g, d);
    if (d == RG_BOOL)
        return spv_truth(&g->s, bits & 1);
    if (d == RG_F16)
        bits = ir_float_bits(RG_F32, ir_bits_float(RG_F16, bits));
    if (type == g->u64 || type == g->f64)
        return spv_known(&g->s, SPV_CONSTANT, type, spv_list((uint32_t)bits, (uint32_t)(bits >> 32)));
    uint32_t word = (uint32_t)(ir_is_float(d) ? bits : ir_wrap(d, bits));
    return spv_known(&g->s, SPV_CONSTANT, type, 1, &word);
}

spv_id
sv_add(gen *g, spv_id x, uint64_t by)
{
    return by ? emit(g, SPV_I_ADD, g->u64, x, sv_u64(g, by)) : x;
}

spv_id
sv_low(gen *g, spv_id wide)
{
    return emit(g, SPV_U_CONVERT, g->u32, wide);
}

spv_id
sv_high(gen *g, spv_id narrow)
{
    return emit(g, SPV_U_CONVERT, g->u64, narrow);
}

spv_id
sv_choose(gen *g, spv_id type, spv_id c, spv_id x, spv_id y)
{
    if (x == y || c == spv_truth(&g->s, true))
        return x;
    return c == spv_truth(&g->s, false) ? y : emit(g, SPV_SELECT, type, c, x, y);
}

spv_id
sv_not(gen *g, spv_id c)
{
    return emit(g, SPV_LOGICAL_NOT, g->truth, c);
}

spv_id
sv_and(gen *g, spv_id a, spv_id b)
{
    return !a ? b : !b ? a : emit(g, SPV_LOGICAL_AND, g->truth, a, b);
}

spv_id
sv_or(gen *g, spv_id a, spv_id b)
{
    const spv_id no = spv_truth(&g->s, false);
    return a == no || a == b ? b : b == no ? a : emit(g, SPV_LOGICAL_OR, g->truth, a, b);
}

/* a constant is one id */
spv_id
sv_is(gen *g, spv_id x, spv_id y)
{
    if (x == y || (spv_constant(&g->s, x) && spv_constant(&g->s, y)))
        return spv_truth(&g->s, x == y);
    return emit(g, SPV_I_EQUAL, g->truth, x, y);
}

spv_id
sv_is_zero(gen *g, spv_id wide)
{
    return sv_is(g, wide, sv_u64(g, 0));
}

/* -- values ---------------------------------------------------------------------------------------------------------- */

static spv_id
read_parameter(gen *g, const ir_value *v)
{
    spv_id at = sv_add(g, g->args, (uint64_t)v->index * sizeof(rt_arg));
    rg_dtype d = ir_dtype(v);
    if (v->type.kind != IR_SCALAR)
        return at;
    spv_id raw = ir_bytes(d) == 8 ? sv_read64(g, at, 0) : sv_read32(g, at, 0);
    if (ir_bytes(d) < 4)
        raw = emit(g, SPV_AND, g->u32, raw, sv_u32(g, d == RG_BOOL ? 255 : (1u << ir_bits(d)) - 1));
    return sv_from_raw(g, d, raw);
}

/* Where the value lies that an earlier step has left in the record. */
static spv_id
read_record(gen *g, const ir_value *v)
{
    uint32_t place = g->segments.places[v->id];
    bool whole = v->def && (v->def->code == RG_OP_TEMP || v->def->code == RG_OP_SLOT);
    rg_dtype d = ir_dtype(v);
    assert(place != SEGMENTS_NO_PLACE);
    spv_id record = sv_read64(g, g->launch, offsetof(rt_vulkan_launch, record));
    if (whole) {
        g->in_memory[v->id] = v->def->code == RG_OP_SLOT;
        return sv_add(g, record, place);
    }
    if (v->type.kind != IR_SCALAR || ir_bytes(d) == 8) {
        spv_id cell = sv_read64(g, record, place);
        return v->type.kind == IR_SCALAR ? sv_from_raw(g, d, cell) : cell;
    }
    return sv_from_raw(g, d, sv_read32(g, record, place));
}

spv_id
sv_get(gen *g, const ir_value *v)
{
    spv_id *at = &g->values[v->id];
    uint64_t bits;
    if (*at)
        return *at;
    if (ir_is_const(v, &bits))
        return sv_const(g, ir_dtype(v), bits);
    if (ir_is_table(v))
        return *at = sv_table(g, v->def);
    bool was = g->s.at_top, parameter = !v->def && v->region == g->ir->body;
    if (g->failed) /* what stands behind a refusal is not made */
        return g->u32;
    assert(g->ir == g->kernel && "a function's values are set before they are used");
    g->s.at_top = true; /* stands still while the entry runs */
    if (parameter)
        *at = read_parameter(g, v);
    else if (v->def && ir_is_formula(v->def))
        sv_one_op(g, v->def);
    else
        *at = read_record(g, v);
    g->s.at_top = was;
    return *at;
}

spv_id
sv_wide(gen *g, const ir_value *v)
{
    rg_dtype d = ir_dtype(v);
    return sv_cast(g, d, ir_is_signed(d) ? RG_I64 : RG_U64, sv_get(g, v));
}

/* -- the walk -------------------------------------------------------------------------------------------------------- */

static void
scalar_op(gen *g, const ir_op *op)
{
    spv_id args[3] = {0};
    for (uint32_t i = 0; i < op->nargs && i < 3; i++)
        args[i] = sv_get(g, op->args[i]);
    rg_dtype from = ir_dtype(op->args[op->code == RG_OP_SELECT]), to = ir_dtype(op->results[0]);
    sv_set(g, op->results[0], sv_scalar(g, (rg_op)op->code, from, to, args));
}

static void
other_op(gen *g, const ir_op *op)
{
    static void (*const makers[RG_OP_COUNT])(gen *g, const ir_op *op) = {
        [RG_OP_LOAD] = sv_load, [RG_OP_STORE] = sv_store, [RG_OP_RMW] = sv_rmw, [RG_OP_PICK] = sv_pick, [RG_OP_TEMP] = sv_temp,
        [RG_OP_EXTRACT] = sv_slot_load, [RG_OP_IF] = sv_if_op, [RG_OP_FOR] = sv_for, [RG_OP_LOOP] = sv_loop_op,
        [RG_OP_CALL] = sv_call, [RG_OP_ASSERT] = sv_assert, [RG_OP_PRINT] = sv_print, [RG_OP_SPLAT] = sv_lane_op,
        [RG_OP_LANE] = sv_lane_op, [RG_OP_LANES_ANY] = sv_lane_op, [RG_OP_LANES_BITS] = sv_lane_op,
        [RG_OP_LANES_REDUCE] = sv_lane_op, [RG_OP_LANE_GET] = sv_lane_op, [RG_OP_LANE_SET] = sv_lane_op,
        [RG_OP_TAPE_BEGIN] = sv_tape_op, [RG_OP_TAPE_END] = sv_tape_op, [RG_OP_TAPE_PUSH] = sv_tape_op,
        [RG_OP_TAPE_POP] = sv_tape_op, [RG_OP_TAPE_OVER] = sv_tape_op, [RG_OP_TAPE_ROOM] = sv_tape_op,
        [RG_OP_TAPE_SAVE] = sv_tape_op, [RG_OP_TAPE_RESTORE] = sv_tape_op, [RG_OP_TAPE_TASKS] = sv_tape_op,
        [RG_OP_TAPE_OVER_TASKS] = sv_tape_op, [RG_OP_TAPE_THIN] = sv_tape_op, [RG_OP_SLOT] = sv_slot,
        [RG_OP_SLOT_LOAD] = sv_slot_load, [RG_OP_SLOT_STORE] = sv_slot_store, [RG_OP_SLOT_COPY] = sv_slot_copy,
        [RG_OP_SLOT_ZERO] = sv_slot_zero, [RG_OP_SLOT_TURN] = sv_slot_turn,
    };
    if (op->code == RG_OP_EXTENT)
        sv_set(g, op->results[0], sv_extent(g, op->args[0], (uint32_t)op->attr.bits));
    else if (makers[op->code])
        makers[op->code](g, op);
    else
        sv_refuse(g, op, "no code for `%s`", ir_ops[op->code].text);
}

void
sv_one_op(gen *g, const ir_op *op)
{
    if (op->code == RG_OP_CONST || op->code == RG_OP_YIELD || op->code == RG_OP_TABLE)
        return;
    if (ir_ops[op->code].form != IR_OTHER)
        scalar_op(g, op);
    else
        other_op(g, op);
}

void
sv_region(gen *g, const ir_region *r)
{
    sv_late *late = sv_late_begin(g);
    for (const ir_op *op = r->first; op && !g->failed; op = op->next) {
        if (ir_ends_late(op))
            sv_late_add(g);
        op = sv_straight(g, op);
    }
    sv_late_end(g, late);
}

/* -- the module ------------------------------------------------------------------------------------------------------ */

static void
set_up(gen *g)
{
    static const uint32_t always[] = {SPV_CAP_SHADER, SPV_CAP_INT64, SPV_CAP_ADDRESSES, SPV_CAP_MODEL, SPV_CAP_MODEL_DEVICE};
    spv_begin(&g->s, g->in);
    for (size_t i = 0; i < countof(always); i++)
        spv_capability(&g->s, always[i]);
    g->u32 = spv_int(&g->s, 32);
    g->u64 = spv_int(&g->s, 64);
    g->f32 = spv_float(&g->s, 32);
    g->truth = spv_bool(&g->s);
    g->nothing = spv_void(&g->s);
    g->code.uses = SPIRV_INT64 | SPIRV_ADDRESSES | SPIRV_MODEL;
}

/* What floats keep, of all entries: only what the device has. */
static void
put_mode(gen *g, spv_id fn, uint32_t mode, uint32_t capability, uint32_t bits)
{
    spv_capability(&g->s, capability);
    spv_put(&g->s.sections[SPV_MODES], SPV_MODE, spv_list(fn, mode, bits));
}

void
sv_put_modes(gen *g, spv_id fn)
{
    static const struct {
        spirv_features feature;
        uint32_t mode, capability, bits;
    } modes[] = {
        {SPIRV_DENORM32, MODE_DENORM, SPV_CAP_DENORM_PRESERVE, 32}, {SPIRV_DENORM64, MODE_DENORM, SPV_CAP_DENORM_PRESERVE, 64},
        {SPIRV_ROUND32, MODE_RTE, SPV_CAP_RTE, 32},                 {SPIRV_ROUND64, MODE_RTE, SPV_CAP_RTE, 64},
        {SPIRV_KEEPS32, MODE_KEEPS, SPV_CAP_KEEPS, 32},             {SPIRV_KEEPS64, MODE_KEEPS, SPV_CAP_KEEPS, 64},
    };
    enum { LOCAL_SIZE = 17, UNIFORM_CONTROL_FLOW = 4421 };
    spv_put(&g->s.sections[SPV_MODES], SPV_MODE, spv_list(fn, LOCAL_SIZE, RT_WARP, 1, 1));
    if (g->options->features & SPIRV_MEETS && g->code.uses & SPIRV_SUBGROUPS) {
        spv_extension(&g->s, "SPV_KHR_subgroup_uniform_control_flow");
        spv_put(&g->s.sections[SPV_MODES], SPV_MODE, spv_list(fn, UNIFORM_CONTROL_FLOW));
        g->code.uses |= SPIRV_MEETS;
    }
    for (size_t i = 0; i < countof(modes); i++)
        if (g->options->features & modes[i].feature && (modes[i].bits == 32 || g->f64)) {
            put_mode(g, fn, modes[i].mode, modes[i].capability, modes[i].bits);
            g->code.uses |= modes[i].feature;
        }
}

static void
release_gen(void *object)
{
    gen *g = object;
    math_library_free(&g->library);
    ll_gpu_info_free(&g->code.info);
}

static void
assemble_module(gen *g, str *bytes)
{
    spv_words words = {.in = g->in};
    set_up(g);
    sv_entries(g);
    if (g->failed)
        return;
    spv_end(&g->s, &words);
    g->code.words = words.at;
    g->code.nwords = (uint32_t)words.n;
    g->code.entries = g->entries;
    g->code.fixed = g->options->deterministic;
    spirv_code_write(bytes, &g->code);
}

rg_status
spirv_make(const ir_fn *fn, const spirv_options *options, str *bytes, diag_list *diags)
{
    const spirv_features needed = SPIRV_INT64 | SPIRV_ADDRESSES | SPIRV_MODEL;
    arena *in = mem_scratch();
    gen g = {.kernel = fn, .ir = fn, .options = options, .in = in, .diags = diags, .code.info.steps.in = in, .functions.in = in,
             .jobs.in = in, .again.in = in, .noted.in = in};
    mem_owner owner;
    if ((options->features & needed) != needed) {
        sv_refuse(&g, NULL, "this device lacks 64-bit integers, buffer addresses or the Vulkan memory model");
        return RG_UNSUPPORTED;
    }
    mem_own(&owner, release_gen, &g);
    g.segments = segments_make(fn, in);
    g.footprints = ir_footprints_in(in);
    g.effects = ir_effects_of(fn->body, in);
    ir_directions(fn, g.directions);
    g.code.info.record = g.segments.bytes;
    assemble_module(&g, bytes);
    mem_disown(&owner);
    release_gen(&g);
    return g.failed ? RG_UNSUPPORTED : RG_OK;
}

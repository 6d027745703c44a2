/* See shape.h. Values, masks and the loop's counter are variables in memory of the function's own, so steps may stand
 * anywhere in loops and branches; the first pass makes values of them. SPDX-License-Identifier: Apache-2.0 */
#include "shape.h"

enum { MEMORY_ARGUMENTS = 3, NESTING = 3 };

typedef struct open_block {
    LLVMBasicBlockRef head, after;
    bool loops;
} open_block;

typedef struct making {
    const shape *s;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef fn, memory, out, where, bits, n;
    LLVMTypeRef element, value, mask, i1, i64, ptr;
    LLVMValueRef values[SHAPE_VALUES], masks[SHAPE_MASKS], turn;
    open_block open[NESTING];
    unsigned depth;
    uint64_t choice;
} making;

uint64_t
shape_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state ^ (*state >> 29);
    return x * 0xbf58476d1ce4e5b9u ^ (x >> 32);
}

void
shape_random(shape *s, uint64_t *state)
{
    static const unsigned lanes[] = {0, 0, 8, 8, 16, 16};
    static const uint8_t often[STEP_KINDS] = {[STEP_LOAD] = 3, [STEP_STORE] = 3, [STEP_BLEND] = 3, [STEP_EXCHANGE] = 2, [STEP_MASK] = 2,
                                              [STEP_ADD] = 1,  [STEP_OUT] = 1,   [STEP_LOOP] = 2,  [STEP_IF] = 1,       [STEP_END] = 1};
    memset(s, 0, sizeof *s);
    s->type = (shape_type)(shape_number(state) % SHAPE_TYPES);
    s->lanes = lanes[shape_number(state) % countof(lanes)];
    s->calls = !s->lanes && shape_number(state) % 3 == 0;
    s->n = 2 + (unsigned)(shape_number(state) % (SHAPE_STEPS - 1));
    for (unsigned i = 0; i < s->n; i++) {
        unsigned sum = 0, at;
        for (unsigned k = 0; k < STEP_KINDS; k++)
            sum += often[k];
        at = (unsigned)(shape_number(state) % sum);
        while (at >= often[s->steps[i].kind])
            at -= often[s->steps[i].kind++];
        s->steps[i].choice = shape_number(state);
    }
    s->apart = !s->lanes && !s->calls && s->steps[0].choice % 4;
    for (unsigned i = 0; i < s->n && s->apart; i++)
        if (!i || s->steps[i].kind == STEP_END || s->steps[i].kind == STEP_LOOP)
            s->steps[i].kind = i ? STEP_EXCHANGE : STEP_LOOP;
}

/* The digits of a number up to SHAPE_EVERY; those of the step are taken in step_every. */
void
shape_every(shape *s, uint64_t number)
{
    static const shape_type types[] = {SHAPE_F64, SHAPE_F32, SHAPE_I32};
    *s = (shape){.type = types[number % 3], .lanes = number / 3 % 2 ? 16 : 8, .n = 2};
    s->steps[0].kind = number / 6 % 2 ? STEP_LOOP : STEP_OUT;
    s->steps[1] = (shape_step){STEP_EVERY, number / 12};
}

unsigned
shape_bytes(shape_type type)
{
    static const unsigned bytes[] = {[SHAPE_F32] = 4, [SHAPE_F64] = 8, [SHAPE_I8] = 1, [SHAPE_I32] = 4, [SHAPE_I64] = 8};
    return bytes[type];
}

/* -- details ----------------------------------------------------------------------------------------------------- */

/* takes bits of the step's choice */
static unsigned
choose(making *m, unsigned n)
{
    uint64_t c = m->choice;
    m->choice = c / n;
    return (unsigned)(c % n);
}

static bool
is_float(const making *m)
{
    return m->s->type == SHAPE_F32 || m->s->type == SHAPE_F64;
}

static LLVMValueRef
number(making *m, uint64_t n)
{
    return LLVMConstInt(m->i64, n, false);
}

static LLVMValueRef
splat(making *m, LLVMValueRef v)
{
    LLVMValueRef all[SHAPE_LANES];
    if (!m->s->lanes)
        return v;
    for (unsigned i = 0; i < m->s->lanes; i++)
        all[i] = v;
    if (LLVMIsConstant(v))
        return LLVMConstVector(all, m->s->lanes);
    LLVMValueRef none = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v), m->s->lanes)), zero = number(m, 0);
    LLVMTypeRef numbers = LLVMVectorType(LLVMInt32TypeInContext(m->context), m->s->lanes);
    return LLVMBuildShuffleVector(m->b, LLVMBuildInsertElement(m->b, none, v, zero, ""), none, LLVMConstNull(numbers), "");
}

static LLVMValueRef
lane_numbers(making *m, uint64_t step)
{
    LLVMValueRef all[SHAPE_LANES];
    for (unsigned i = 0; i < m->s->lanes; i++)
        all[i] = number(m, i * step);
    return m->s->lanes ? LLVMConstVector(all, m->s->lanes) : number(m, 0);
}

/* an access under a mask: the address is args[place]; its alignment is an operand up to LLVM 21 */
static LLVMValueRef
call_masked(making *m, const char *name, LLVMTypeRef *types, unsigned ntypes, LLVMValueRef *args, unsigned n, unsigned place)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMTypeRef type = LLVMIntrinsicGetType(m->context, id, types, ntypes);
    LLVMValueRef all[5];
    unsigned count = 0;
    bool operand = LLVMCountParamTypes(type) > n;
    for (unsigned i = 0; i < n; i++) {
        all[count++] = args[i];
        if (operand && i == place)
            all[count++] = LLVMConstInt(LLVMInt32TypeInContext(m->context), shape_bytes(m->s->type), false);
    }
    LLVMValueRef made = LLVMBuildCall2(m->b, type, LLVMGetIntrinsicDeclaration(m->module, id, types, ntypes), all, count, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    if (!operand)
        LLVMAddCallSiteAttribute(made, place + 1, LLVMCreateEnumAttribute(m->context, kind, shape_bytes(m->s->type)));
    return made;
}

static LLVMValueRef
get(making *m, LLVMValueRef variable)
{
    return LLVMBuildLoad2(m->b, LLVMGetAllocatedType(variable), variable, "");
}

static LLVMValueRef
any_value(making *m)
{
    return get(m, m->values[choose(m, SHAPE_VALUES)]);
}

static LLVMValueRef
constant(making *m, double v)
{
    return splat(m, is_float(m) ? LLVMConstReal(m->element, v) : LLVMConstInt(m->element, (uint64_t)(int64_t)v, true));
}

static LLVMValueRef
other_value(making *m)
{
    switch (choose(m, 5)) {
    case 0:
        return constant(m, 0.0);
    case 1:
        return constant(m, -0.0);
    case 2:
        return constant(m, 3.0);
    }
    return any_value(m);
}

static LLVMValueRef
any_mask(making *m)
{
    return get(m, m->masks[choose(m, SHAPE_MASKS)]);
}

/* of it, or near to it */
static LLVMValueRef
near_mask(making *m, LLVMValueRef mask)
{
    switch (choose(m, 7)) {
    case 0:
        return LLVMBuildNot(m->b, mask, "");
    case 1:
        return LLVMBuildAnd(m->b, mask, any_mask(m), "");
    case 2:
        return LLVMBuildOr(m->b, mask, any_mask(m), "");
    case 3:
        return any_mask(m);
    }
    return mask;
}

static LLVMValueRef
blend(making *m, LLVMValueRef mask, LLVMValueRef v, LLVMValueRef other)
{
    bool swaps = choose(m, 4) == 0;
    return LLVMBuildSelect(m->b, mask, swaps ? other : v, swaps ? v : other, "");
}

/* -- memory ------------------------------------------------------------------------------------------------------ */

typedef struct place {
    LLVMValueRef first, offsets; /* of gathers and scatters; NULL: neighbours, or one element */
} place;

static LLVMValueRef
element_at(making *m, LLVMValueRef base, LLVMValueRef i)
{
    return LLVMBuildGEP2(m->b, m->element, base, &i, 1, "");
}

static place
choose_place(making *m, bool each)
{
    unsigned width = m->s->lanes ? m->s->lanes : 1;
    uint64_t offsets[] = {0, 0, 0, 1, width, 2 * width};
    if (m->s->apart)
        offsets[3] = offsets[4] = SHAPE_LANES;
    LLVMValueRef first = LLVMBuildAdd(m->b, number(m, offsets[choose(m, countof(offsets))]), get(m, m->turn), "");
    place p = {.first = element_at(m, m->memory, first)};
    if (!each || !m->s->lanes)
        return p;
    switch (choose(m, 4)) {
    case 0:
        p.offsets = lane_numbers(m, 0);
        break;
    case 1:
        p.offsets = lane_numbers(m, 2);
        break;
    case 2:
        p.offsets = LLVMBuildLoad2(m->b, LLVMVectorType(m->i64, m->s->lanes), m->where, "");
        LLVMSetAlignment(p.offsets, 8);
        break;
    default:
        p.offsets = lane_numbers(m, 1);
    }
    return p;
}

static LLVMValueRef
addresses(making *m, const place *p)
{
    return LLVMBuildGEP2(m->b, m->element, p->first, (LLVMValueRef *)&p->offsets, 1, "");
}

static LLVMValueRef
plain_load(making *m, LLVMTypeRef type, LLVMValueRef at)
{
    LLVMValueRef v = LLVMBuildLoad2(m->b, type, at, "");
    LLVMSetAlignment(v, shape_bytes(m->s->type));
    return v;
}

static void
plain_store(making *m, LLVMValueRef v, LLVMValueRef at)
{
    LLVMSetAlignment(LLVMBuildStore(m->b, v, at), shape_bytes(m->s->type));
}

static LLVMBasicBlockRef
begin_if(making *m, LLVMValueRef condition)
{
    LLVMBasicBlockRef inside = LLVMAppendBasicBlockInContext(m->context, m->fn, ""),
                      after = LLVMAppendBasicBlockInContext(m->context, m->fn, "");
    LLVMBuildCondBr(m->b, condition, inside, after);
    LLVMPositionBuilderAtEnd(m->b, inside);
    return after;
}

static void
end_if(making *m, LLVMBasicBlockRef after)
{
    LLVMBuildBr(m->b, after);
    LLVMPositionBuilderAtEnd(m->b, after);
}

static const char *
helper_name(char text[16], const char *what, shape_type type)
{
    snprintf(text, 16, "%s.%u", what, (unsigned)type);
    return text;
}

/* a thread's own: by a call, or around a branch */
static LLVMValueRef
load_alone(making *m, const place *p, LLVMValueRef mask, LLVMValueRef otherwise)
{
    char name[16];
    if (m->s->calls) {
        LLVMValueRef fn = LLVMGetNamedFunction(m->module, helper_name(name, "load_if", m->s->type));
        LLVMValueRef args[3] = {p->first, mask, otherwise};
        return LLVMBuildCall2(m->b, LLVMGlobalGetValueType(fn), fn, args, 3, "");
    }
    LLVMBasicBlockRef from = LLVMGetInsertBlock(m->b), after = begin_if(m, mask), inside = LLVMGetInsertBlock(m->b);
    LLVMValueRef v = plain_load(m, m->value, p->first);
    end_if(m, after);
    LLVMValueRef phi = LLVMBuildPhi(m->b, m->value, "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){otherwise, v}, (LLVMBasicBlockRef[]){from, inside}, 2);
    return phi;
}

static void
store_alone(making *m, const place *p, LLVMValueRef mask, LLVMValueRef v)
{
    char name[16];
    if (m->s->calls) {
        LLVMValueRef fn = LLVMGetNamedFunction(m->module, helper_name(name, "store_if", m->s->type));
        LLVMValueRef args[3] = {p->first, mask, v};
        LLVMBuildCall2(m->b, LLVMGlobalGetValueType(fn), fn, args, 3, "");
        return;
    }
    LLVMBasicBlockRef after = begin_if(m, mask);
    plain_store(m, v, p->first);
    end_if(m, after);
}

static LLVMValueRef
masked_load(making *m, const place *p, LLVMValueRef mask, LLVMValueRef otherwise)
{
    LLVMValueRef at = p->offsets ? addresses(m, p) : p->first;
    LLVMTypeRef types[2] = {m->value, LLVMTypeOf(at)};
    return call_masked(m, p->offsets ? "llvm.masked.gather" : "llvm.masked.load", types, 2, (LLVMValueRef[]){at, mask, otherwise}, 3, 0);
}

static void
masked_store(making *m, const place *p, LLVMValueRef mask, LLVMValueRef v)
{
    LLVMValueRef at = p->offsets ? addresses(m, p) : p->first;
    LLVMTypeRef types[2] = {m->value, LLVMTypeOf(at)};
    call_masked(m, p->offsets ? "llvm.masked.scatter" : "llvm.masked.store", types, 2, (LLVMValueRef[]){v, at, mask}, 3, 1);
}

static LLVMValueRef
load(making *m, LLVMValueRef mask, LLVMValueRef otherwise)
{
    unsigned how = choose(m, 5);
    place p = choose_place(m, how >= 3);
    if (how == 0)
        return plain_load(m, m->value, p.first);
    if (!m->s->lanes)
        return load_alone(m, &p, mask, otherwise);
    return masked_load(m, &p, mask, otherwise);
}

static void
store_under(making *m, LLVMValueRef mask, LLVMValueRef v, bool scatters)
{
    place p = choose_place(m, scatters);
    if (m->s->lanes)
        masked_store(m, &p, mask, v);
    else
        store_alone(m, &p, mask, v);
}

static LLVMValueRef
one_of(making *m, LLVMValueRef v)
{
    return m->s->lanes ? LLVMBuildExtractElement(m->b, v, number(m, choose(m, m->s->lanes)), "") : v;
}

static void
store(making *m, LLVMValueRef mask, LLVMValueRef v)
{
    unsigned how = choose(m, m->s->apart ? 7 : 10), align = shape_bytes(m->s->type);
    if (how < 4) {
        store_under(m, mask, v, false);
        return;
    }
    if (how < 6) {
        store_under(m, mask, v, true);
        return;
    }
    place p = choose_place(m, false), q = choose_place(m, false);
    LLVMValueRef bytes = number(m, (uint64_t)align * (m->s->lanes ? m->s->lanes : 1));
    switch (how) {
    case 6:
        plain_store(m, v, p.first);
        break;
    case 7:
        LLVMBuildAtomicRMW(m->b, is_float(m) ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd, p.first, one_of(m, v),
                           LLVMAtomicOrderingMonotonic, false);
        break;
    case 8:
        LLVMBuildMemSet(m->b, p.first, LLVMConstNull(LLVMInt8TypeInContext(m->context)), bytes, align);
        break;
    default:
        LLVMBuildMemMove(m->b, p.first, align, q.first, align, bytes);
    }
}

/* -- steps ------------------------------------------------------------------------------------------------------- */

static LLVMValueRef
add(making *m, LLVMValueRef a, LLVMValueRef b)
{
    return is_float(m) ? LLVMBuildFAdd(m->b, a, b, "") : LLVMBuildAdd(m->b, a, b, "");
}

static LLVMValueRef
less(making *m, LLVMValueRef a, LLVMValueRef b)
{
    return is_float(m) ? LLVMBuildFCmp(m->b, LLVMRealOLT, a, b, "") : LLVMBuildICmp(m->b, LLVMIntSLT, a, b, "");
}

static LLVMValueRef
first_lanes(making *m, LLVMValueRef n)
{
    return LLVMBuildICmp(m->b, LLVMIntULT, lane_numbers(m, 1), splat(m, n), "");
}

static void
step_mask(making *m)
{
    LLVMValueRef to = m->masks[choose(m, SHAPE_MASKS)], v;
    switch (choose(m, 3)) {
    case 0:
        v = any_value(m);
        v = less(m, v, any_value(m));
        break;
    case 1:
        v = first_lanes(m, LLVMBuildAdd(m->b, get(m, m->turn), number(m, choose(m, 4)), ""));
        break;
    default:
        v = near_mask(m, any_mask(m));
    }
    LLVMBuildStore(m->b, v, to);
}

static LLVMValueRef
half(making *m, LLVMValueRef v, unsigned first, unsigned n)
{
    LLVMValueRef which[SHAPE_LANES];
    for (unsigned i = 0; i < n; i++)
        which[i] = LLVMConstInt(LLVMInt32TypeInContext(m->context), first + i, false);
    return LLVMBuildShuffleVector(m->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(which, n), "");
}

static void
step_out(making *m, unsigned slot)
{
    LLVMValueRef first = number(m, (uint64_t)slot * SHAPE_LANES), v = any_value(m);
    if (m->s->apart)
        first = LLVMBuildAdd(m->b, first, get(m, m->turn), "");
    LLVMValueRef at = element_at(m, m->out, first);
    if (m->s->lanes && choose(m, 2)) {
        for (unsigned n = m->s->lanes / 2; n; n /= 2)
            v = add(m, half(m, v, 0, n), half(m, v, n, n));
        v = LLVMBuildExtractElement(m->b, v, number(m, 0), "");
    } else if (choose(m, 2)) {
        v = one_of(m, v);
    }
    plain_store(m, v, at);
}

/* first values and masks: of memory, and of the arguments */
static void
set_variables(making *m)
{
    unsigned lanes = m->s->lanes, width = lanes ? lanes : 1, far = m->s->apart ? SHAPE_LANES : width;
    LLVMValueRef turn = get(m, m->turn);
    for (unsigned i = 0; i < SHAPE_VALUES; i++) {
        LLVMValueRef at = LLVMBuildAdd(m->b, number(m, (uint64_t)i * far), turn, "");
        LLVMBuildStore(m->b, plain_load(m, m->value, element_at(m, m->memory, at)), m->values[i]);
    }
    LLVMValueRef mask = LLVMBuildTrunc(m->b, LLVMBuildLShr(m->b, m->bits, turn, ""), LLVMIntTypeInContext(m->context, width), "");
    LLVMBuildStore(m->b, lanes ? LLVMBuildBitCast(m->b, mask, m->mask, "") : mask, m->masks[0]);
    LLVMBuildStore(m->b, first_lanes(m, LLVMBuildSub(m->b, m->n, turn, "")), m->masks[1]);
    LLVMBuildStore(m->b, less(m, get(m, m->values[0]), get(m, m->values[1])), m->masks[2]);
}

/* where they are seen */
static LLVMValueRef
value_place(making *m, unsigned i)
{
    LLVMValueRef at = LLVMBuildAdd(m->b, number(m, (uint64_t)(SHAPE_STEPS + i) * SHAPE_LANES), get(m, m->turn), "");
    return element_at(m, m->out, at);
}

static void
step_open(making *m, bool loops)
{
    if (m->depth == NESTING || (loops && m->depth))
        return; /* one loop: its turns are part of addresses */
    open_block *o = &m->open[m->depth++];
    o->loops = loops;
    if (!loops) {
        LLVMValueRef bit = LLVMBuildLShr(m->b, m->bits, number(m, 32 + choose(m, 16)), "");
        o->after = begin_if(m, LLVMBuildTrunc(m->b, bit, m->i1, ""));
        return;
    }
    o->head = LLVMAppendBasicBlockInContext(m->context, m->fn, "");
    LLVMBuildBr(m->b, o->head);
    LLVMPositionBuilderAtEnd(m->b, o->head);
    o->after = begin_if(m, LLVMBuildICmp(m->b, LLVMIntSLT, get(m, m->turn), m->n, ""));
    if (m->s->apart)
        set_variables(m);
}

static void
step_close(making *m)
{
    if (!m->depth)
        return;
    open_block *o = &m->open[--m->depth];
    if (o->loops) {
        for (unsigned i = 0; i < SHAPE_VALUES && m->s->apart; i += 3)
            plain_store(m, get(m, m->values[i]), value_place(m, i));
        LLVMBuildStore(m->b, LLVMBuildNSWAdd(m->b, get(m, m->turn), number(m, 1), ""), m->turn);
        LLVMBuildBr(m->b, o->head);
        LLVMPositionBuilderAtEnd(m->b, o->after);
        LLVMBuildStore(m->b, number(m, 0), m->turn);
        if (m->s->apart)
            set_variables(m);
    } else {
        end_if(m, o->after);
    }
}

static LLVMValueRef
nothing(making *m)
{
    return choose(m, 2) ? LLVMConstNull(m->value) : any_value(m);
}

/* what lanes that take no part hold is not seen: it may be poison */
static void
step_exchange(making *m, LLVMValueRef to)
{
    LLVMValueRef mask = any_mask(m), stored = choose(m, 3) ? mask : any_mask(m), other = other_value(m);
    bool poison = choose(m, 3) == 0 && (m->s->lanes || !m->s->calls);
    LLVMValueRef v = load(m, mask, poison ? LLVMGetPoison(m->value) : nothing(m));
    store(m, stored, other_value(m));
    if (poison)
        v = LLVMBuildSelect(m->b, mask, v, other, "");
    else
        v = blend(m, near_mask(m, mask), v, other);
    LLVMBuildStore(m->b, v, to);
}

/* in vectors: plain, under a mask, one element for all lanes, neighbours by their addresses, elements anywhere */
enum { ACCESSES = 5 };

static place
place_every(making *m, unsigned access, unsigned first)
{
    place p = {.first = element_at(m, m->memory, LLVMBuildAdd(m->b, number(m, first), get(m, m->turn), ""))};
    if (access == 2 || access == 3)
        p.offsets = lane_numbers(m, access - 2);
    if (access == 4) {
        p.offsets = LLVMBuildLoad2(m->b, LLVMVectorType(m->i64, m->s->lanes), m->where, "");
        LLVMSetAlignment(p.offsets, 8);
    }
    return p;
}

static LLVMValueRef
load_every(making *m, unsigned access, LLVMValueRef mask, LLVMValueRef otherwise)
{
    place p = place_every(m, access, 0);
    return access ? masked_load(m, &p, mask, otherwise) : plain_load(m, m->value, p.first);
}

static void
store_every(making *m, unsigned access, unsigned first, LLVMValueRef mask, LLVMValueRef v)
{
    place p = place_every(m, access, first);
    if (access)
        masked_store(m, &p, mask, v);
    else
        plain_store(m, v, p.first);
}

static LLVMValueRef
sum_of(making *m, LLVMValueRef v)
{
    for (unsigned n = m->s->lanes / 2; n; n /= 2)
        v = add(m, half(m, v, 0, n), half(m, v, n, n));
    return splat(m, LLVMBuildExtractElement(m->b, v, number(m, 0), ""));
}

/* A load, a store to the same elements, to some of them or to others, before it, behind it or behind what it is used for. */
static void
step_every(making *m)
{
    unsigned from = choose(m, ACCESSES), to = choose(m, ACCESSES), order = choose(m, 3), use = choose(m, 6), rest = choose(m, 3);
    unsigned first = choose(m, 3) * m->s->lanes / 2;
    LLVMValueRef mask = get(m, m->masks[0]), stored = get(m, m->masks[choose(m, 2)]), other = get(m, m->values[2]);
    LLVMValueRef blended = use == 1 ? get(m, m->masks[2]) : use == 2 ? LLVMBuildNot(m->b, mask, "") : mask;
    bool unseen = use == 0 || use >= 4; /* what lanes hold that loaded nothing */
    LLVMValueRef otherwise = rest == 0 ? LLVMConstNull(m->value) : rest == 1 || !unseen ? other : LLVMGetPoison(m->value);
    if (order == 0)
        store_every(m, to, first, stored, get(m, m->values[1]));
    LLVMValueRef v = load_every(m, from, mask, otherwise);
    if (order == 1)
        store_every(m, to, first, stored, get(m, m->values[1]));
    v = LLVMBuildSelect(m->b, blended, use == 3 ? other : v, use == 3 ? v : other, "");
    v = use == 4 ? sum_of(m, v) : use == 5 ? add(m, v, get(m, m->values[1])) : v;
    if (order == 2)
        store_every(m, to, first, stored, v);
    LLVMBuildStore(m->b, v, m->values[0]);
}

static void
make_step(making *m, unsigned i)
{
    m->choice = m->s->steps[i].choice;
    LLVMValueRef to = m->values[choose(m, SHAPE_VALUES)], mask, v;
    switch (m->s->steps[i].kind) {
    case STEP_LOAD:
        mask = any_mask(m);
        LLVMBuildStore(m->b, load(m, mask, nothing(m)), to);
        break;
    case STEP_STORE:
        mask = any_mask(m);
        store(m, mask, other_value(m));
        break;
    case STEP_BLEND:
        mask = near_mask(m, any_mask(m));
        v = any_value(m);
        LLVMBuildStore(m->b, blend(m, mask, v, other_value(m)), to);
        break;
    case STEP_EXCHANGE:
        step_exchange(m, to);
        break;
    case STEP_MASK:
        step_mask(m);
        break;
    case STEP_ADD:
        v = any_value(m);
        LLVMBuildStore(m->b, add(m, v, any_value(m)), to);
        break;
    case STEP_OUT:
        step_out(m, i);
        break;
    case STEP_LOOP:
    case STEP_IF:
        step_open(m, m->s->steps[i].kind == STEP_LOOP);
        break;
    case STEP_EVERY:
        step_every(m);
        break;
    case STEP_END:
    case STEP_KINDS:
        step_close(m);
    }
}

/* -- functions --------------------------------------------------------------------------------------------------- */

static LLVMTypeRef
element_type(LLVMContextRef context, shape_type type)
{
    if (type == SHAPE_F32)
        return LLVMFloatTypeInContext(context);
    return type == SHAPE_F64 ? LLVMDoubleTypeInContext(context) : LLVMIntTypeInContext(context, 8 * shape_bytes(type));
}

static void
mark(LLVMValueRef fn, const char *attribute, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(fn));
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, value));
}

static LLVMValueRef
helper(LLVMModuleRef module, const char *what, shape_type t, bool stores)
{
    char name[16];
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef element = element_type(context, t), nothing = LLVMVoidTypeInContext(context),
                args[3] = {LLVMPointerTypeInContext(context, 0), LLVMInt1TypeInContext(context), element};
    LLVMValueRef fn = LLVMGetNamedFunction(module, helper_name(name, what, t));
    if (!fn)
        fn = LLVMAddFunction(module, name, LLVMFunctionType(stores ? nothing : element, args, 3, false));
    mark(fn, "nounwind", 0);
    mark(fn, "willreturn", 0);
    mark(fn, "memory", MEMORY_ARGUMENTS);
    return fn;
}

static void
add_body(LLVMModuleRef module, LLVMValueRef fn, shape_type t, bool stores)
{
    shape s = {.type = t};
    LLVMContextRef context = LLVMGetModuleContext(module);
    making m = {.s = &s, .context = context, .module = module, .fn = fn, .value = element_type(context, t), .b = LLVMCreateBuilderInContext(context)};
    LLVMPositionBuilderAtEnd(m.b, LLVMAppendBasicBlockInContext(context, fn, ""));
    place p = {.first = LLVMGetParam(fn, 0)};
    if (stores) {
        store_alone(&m, &p, LLVMGetParam(fn, 1), LLVMGetParam(fn, 2));
        LLVMBuildRetVoid(m.b);
    } else {
        LLVMBuildRet(m.b, load_alone(&m, &p, LLVMGetParam(fn, 1), LLVMGetParam(fn, 2)));
    }
    LLVMDisposeBuilder(m.b);
}

void
shape_add_helpers(LLVMModuleRef module, bool bodies)
{
    for (int t = 0; t < SHAPE_TYPES; t++)
        for (int stores = 0; stores < 2; stores++) {
            LLVMValueRef fn = helper(module, stores ? "store_if" : "load_if", (shape_type)t, stores);
            if (bodies)
                add_body(module, fn, (shape_type)t, stores);
        }
}

static void
make_variables(making *m)
{
    for (unsigned i = 0; i < SHAPE_VALUES; i++)
        m->values[i] = LLVMBuildAlloca(m->b, m->value, "");
    for (unsigned i = 0; i < SHAPE_MASKS; i++)
        m->masks[i] = LLVMBuildAlloca(m->b, m->mask, "");
    m->turn = LLVMBuildAlloca(m->b, m->i64, "");
    LLVMBuildStore(m->b, number(m, 0), m->turn);
    set_variables(m);
}

static void
show_variables(making *m)
{
    for (unsigned i = 0; i < SHAPE_VALUES; i++)
        plain_store(m, get(m, m->values[i]), value_place(m, i));
    for (unsigned i = 0; i < SHAPE_MASKS; i++) {
        LLVMValueRef at = element_at(m, m->out, number(m, (SHAPE_STEPS + SHAPE_VALUES + i) * SHAPE_LANES));
        LLVMValueRef v = LLVMBuildSelect(m->b, get(m, m->masks[i]), constant(m, 1.0), constant(m, 0.0), "");
        plain_store(m, v, at);
    }
}

LLVMValueRef
shape_function(const shape *s, LLVMModuleRef module, const char *name)
{
    LLVMContextRef c = LLVMGetModuleContext(module);
    making m = {.s = s, .context = c, .module = module, .element = element_type(c, s->type), .i1 = LLVMInt1TypeInContext(c),
                .i64 = LLVMInt64TypeInContext(c), .ptr = LLVMPointerTypeInContext(c, 0)};
    m.value = s->lanes ? LLVMVectorType(m.element, s->lanes) : m.element;
    m.mask = s->lanes ? LLVMVectorType(m.i1, s->lanes) : m.i1;
    LLVMTypeRef params[5] = {m.ptr, m.ptr, m.ptr, m.i64, m.i64};
    m.fn = LLVMAddFunction(module, name, LLVMFunctionType(LLVMVoidTypeInContext(c), params, 5, false));
    m.memory = LLVMGetParam(m.fn, 0), m.out = LLVMGetParam(m.fn, 1), m.where = LLVMGetParam(m.fn, 2);
    m.bits = LLVMGetParam(m.fn, 3), m.n = LLVMGetParam(m.fn, 4);
    unsigned noalias = LLVMGetEnumAttributeKindForName("noalias", 7);
    for (unsigned i = 2; i <= 3; i++) /* out, where */
        LLVMAddAttributeAtIndex(m.fn, i, LLVMCreateEnumAttribute(c, noalias, 0));
    m.b = LLVMCreateBuilderInContext(c);
    LLVMPositionBuilderAtEnd(m.b, LLVMAppendBasicBlockInContext(c, m.fn, ""));
    make_variables(&m);
    for (unsigned i = 0; i < s->n; i++)
        make_step(&m, i);
    while (m.depth)
        step_close(&m);
    show_variables(&m);
    LLVMBuildRetVoid(m.b);
    LLVMDisposeBuilder(m.b);
    return m.fn;
}

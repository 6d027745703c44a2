/* The flags that an iteration records share a word, one bit each. SPDX-License-Identifier: Apache-2.0
 *
 *   for records { %a: bool ..  %b: bool ..  yield }         unwind { recall %a  recall %b }
 *   for records { ..  %w: u8 = %a | %b << 1  yield }   ->   unwind { recall %w & 1 != 0  recall %w & 2 != 0 }
 *
 * Stands behind the plan: flags that are recalled now are recorded. */
#include "diff/ad.h"
#include "diff/emit.h"
#include "ir/recall.h"

enum { WORD = 64 };

typedef struct flag {
    ir_op *recall;
    uint32_t bit;
} flag;

/* What one recording op keeps. */
typedef struct flag_set {
    ir_op *owner;
    vec(ir_value *) values; /* of the owner's body itself */
    vec(flag) recalls;
    vec(ir_value *) words;
} flag_set;

typedef struct flags {
    ir_fn *fn;
    map set_of; /* owner -> index + 1 */
    vec(flag_set) sets;
    vec(ir_op *) recalls;
    map lifted;
    ir_steps steps;
} flags;

static bool
collect(ir_op *op, void *user)
{
    flags *f = user;
    ir_type t = op->code == RG_OP_RECALL ? op->args[0]->type : ir_cursor();
    if (t.kind == IR_SCALAR && t.dtype == RG_BOOL && !t.lanes) /* in lanes they are bits anyway */
        vec_push(&f->recalls, op);
    return true;
}

static flag_set *
set_for(flags *f, ir_op *owner)
{
    size_t index = (size_t)map_get(&f->set_of, map_ptr(owner));
    if (!index) {
        vec_push(&f->sets, ((flag_set){.owner = owner}));
        index = f->sets.n;
        map_set(&f->set_of, map_ptr(owner), (void *)index);
    }
    return &f->sets.at[index - 1];
}

/* carried out of ifs, up to the body that is recorded */
static void
note(flags *f, ir_op *recall)
{
    ir_op *by;
    ir_op *owner = ir_recall_owner(recall, &by);
    if (!owner)
        return;
    ir_recall_steps(recall, &f->steps);
    for (size_t i = 0; f->steps.at[i].op != owner; i++)
        recall->args[0] = ir_lift(f->fn, recall->args[0], f->steps.at[i].op, &f->lifted);
    flag_set *s = set_for(f, owner);
    uint32_t bit = 0;
    while (bit < s->values.n && s->values.at[bit] != recall->args[0])
        bit++;
    if (bit == s->values.n)
        vec_push(&s->values, recall->args[0]);
    vec_push(&s->recalls, ((flag){recall, bit}));
}

static rg_dtype
word_for(size_t bits)
{
    return bits <= 8 ? RG_U8 : bits <= 16 ? RG_U16 : bits <= 32 ? RG_U32 : RG_U64;
}

static void
make_words(flags *f, flag_set *s)
{
    ir_region *body = s->owner->regions[0];
    ad_emit e = {f->fn, body, ir_terminator(body), s->owner->loc};
    for (size_t from = 0; from < s->values.n; from += WORD) {
        size_t n = s->values.n - from < WORD ? s->values.n - from : WORD;
        rg_dtype dtype = word_for(n);
        ir_value *word = ad_cast(&e, dtype, s->values.at[from]);
        for (size_t i = 1; i < n; i++) {
            ir_value *bit = ad_cast(&e, dtype, s->values.at[from + i]);
            bit = ad_op2(&e, RG_OP_SHL, bit, ad_const(&e, dtype, i));
            word = ad_op2(&e, RG_OP_OR, word, bit);
        }
        word->name = "flags";
        vec_push(&s->words, word);
    }
}

/* the recall of a flag becomes a look at its bit */
static void
take_bit(flags *f, const flag_set *s, const flag *of)
{
    ir_op *op = of->recall;
    ad_emit e = {f->fn, op->parent, op, op->loc};
    ir_value *word = ad_recall(&e, s->words.at[of->bit / WORD]);
    rg_dtype dtype = (rg_dtype)word->type.dtype;
    ir_value *bit = ad_op2(&e, RG_OP_AND, word, ad_const(&e, dtype, (uint64_t)1 << of->bit % WORD));
    ir_value *zero = ad_const(&e, dtype, 0);
    op->code = RG_OP_NE;
    op->args[0] = bit;
    ir_op_arg(op, f->fn, zero);
}

static void
release_flags(void *object)
{
    flags *f = object;
    for (size_t i = 0; i < f->sets.n; i++) {
        vec_free(&f->sets.at[i].values);
        vec_free(&f->sets.at[i].recalls);
        vec_free(&f->sets.at[i].words);
    }
    vec_free(&f->sets);
    vec_free(&f->recalls);
    vec_free(&f->steps);
    map_free(&f->set_of);
    map_free(&f->lifted);
}

static bool
pack(ir_fn *fn)
{
    flags f = {.fn = fn};
    bool changed = false;
    mem_owner owns;
    mem_own(&owns, release_flags, &f);
    ir_walk(fn->body, collect, &f);
    for (size_t i = 0; i < f.recalls.n; i++)
        note(&f, f.recalls.at[i]);
    for (size_t i = 0; i < f.sets.n; i++) {
        flag_set *s = &f.sets.at[i];
        if (s->values.n < 2)
            continue;
        make_words(&f, s);
        for (size_t k = 0; k < s->recalls.n; k++)
            take_bit(&f, s, &s->recalls.at[k]);
        changed = true;
    }
    mem_disown(&owns);
    release_flags(&f);
    return changed;
}

bool
ad_flags(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        changed |= pack(fn);
    return changed;
}

/* The writer of SPIR-V modules. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/spirv/spv.h"

enum { MAGIC = 0x07230203, VERSION = 0x00010500, STRING_MAX = 64, FIRST_TIME = 1 };
enum { ADDRESSING_64 = 5348, VULKAN_MODEL = 3, COMPUTE = 5, BUILTIN = 11 };

static void
put_words(spv_words *to, uint32_t n, const uint32_t *words)
{
    for (uint32_t i = 0; i < n; i++)
        vec_push(to, words[i]);
}

void
spv_put(spv_words *to, uint32_t opcode, uint32_t n, const uint32_t *operands)
{
    vec_push(to, (n + 1) << 16 | opcode);
    put_words(to, n, operands);
}

/* zero-terminated, in words; returns how many */
static uint32_t
pack_string(const char *text, uint32_t words[STRING_MAX])
{
    size_t length = strlen(text);
    uint32_t n = (uint32_t)(length / 4 + 1);
    assert(n <= STRING_MAX);
    memset(words, 0, n * sizeof *words);
    for (size_t i = 0; i < length; i++)
        words[i / 4] |= (uint32_t)(unsigned char)text[i] << i % 4 * 8;
    return n;
}

void
spv_begin(spv *s, arena *in)
{
    uint32_t name[1 + STRING_MAX];
    *s = (spv){.in = in, .known.in = in, .constants.in = in, .interface.in = in, .next = 1};
    for (int i = 0; i < SPV_SECTIONS; i++)
        s->sections[i].in = in;
    s->glsl = name[0] = spv_new(s);
    spv_put(&s->sections[SPV_IMPORTS], SPV_IMPORT, 1 + pack_string("GLSL.std.450", name + 1), name);
    spv_put(&s->sections[SPV_MODEL], SPV_MEMORY_MODEL, spv_list(ADDRESSING_64, VULKAN_MODEL));
}

/* whether a thing of this description was not there yet; it is now, as `value` */
static bool
is_new(spv *s, uint64_t key, spv_id *value)
{
    void *old = map_get(&s->known, key);
    if (old) {
        *value = (spv_id)(uintptr_t)old;
        return false;
    }
    *value = *value ? *value : spv_new(s);
    map_set(&s->known, key, (void *)(uintptr_t)*value);
    return true;
}

void
spv_capability(spv *s, uint32_t capability)
{
    uint32_t what[2] = {SPV_CAPABILITY, capability};
    spv_id there = FIRST_TIME;
    if (is_new(s, hash_bytes(0, what, sizeof what), &there))
        spv_put(&s->sections[SPV_CAPABILITIES], SPV_CAPABILITY, 1, &capability);
}

void
spv_extension(spv *s, const char *name)
{
    uint32_t words[STRING_MAX], n = pack_string(name, words);
    spv_id there = FIRST_TIME;
    if (is_new(s, hash_bytes(SPV_EXTENSION, name, strlen(name)), &there))
        spv_put(&s->sections[SPV_EXTENSIONS], SPV_EXTENSION, n, words);
}

void
spv_name(spv *s, spv_id id, const char *name)
{
    uint32_t words[1 + STRING_MAX] = {id};
    if (strlen(name) < 4 * STRING_MAX)
        spv_put(&s->sections[SPV_NAMES], SPV_NAME, 1 + pack_string(name, words + 1), words);
}

void
spv_entry(spv *s, spv_id fn, const char *name)
{
    uint32_t words[2 + STRING_MAX] = {COMPUTE, fn}, n = 2 + pack_string(name, words + 2);
    spv_words *to = &s->sections[SPV_ENTRIES];
    spv_put(to, SPV_ENTRY, n, words);
    vec_push(to, FIRST_TIME); /* where spv_end puts the interface in */
}

void
spv_decorate(spv *s, spv_id id, uint32_t decoration)
{
    spv_put(&s->sections[SPV_DECORATIONS], SPV_DECORATE, spv_list(id, decoration));
}

spv_id
spv_known(spv *s, uint32_t opcode, spv_id type, uint32_t n, const uint32_t *operands)
{
    uint32_t head[2] = {opcode, type};
    spv_words *to = &s->sections[SPV_GLOBALS];
    spv_id id = 0;
    if (!is_new(s, hash_bytes(hash_bytes(n + 1, head, sizeof head), operands, n * sizeof *operands), &id))
        return id;
    vec_push(to, (n + 2 + (type != 0)) << 16 | opcode);
    if (type)
        vec_push(to, type);
    vec_push(to, id);
    put_words(to, n, operands);
    if (opcode == SPV_CONSTANT) {
        uint64_t *bits = arena_one(s->in, uint64_t);
        *bits = operands[0] | (n > 1 ? (uint64_t)operands[1] << 32 : 0);
        map_set(&s->constants, id, bits);
    }
    return id;
}

const uint64_t *
spv_constant(const spv *s, spv_id id)
{
    return map_get(&s->constants, id);
}

spv_id
spv_global(spv *s, uint32_t storage, spv_id type, spv_id initial, uint32_t builtin)
{
    spv_id id = spv_new(s);
    uint32_t words[4] = {spv_pointer(s, storage, type), id, storage, initial};
    spv_put(&s->sections[SPV_GLOBALS], SPV_VARIABLE, initial ? 4 : 3, words);
    if (builtin)
        spv_put(&s->sections[SPV_DECORATIONS], SPV_DECORATE, spv_list(id, BUILTIN, builtin));
    vec_push(&s->interface, id);
    return id;
}

static spv_words *
place_of_ops(spv *s)
{
    return s->at_top ? &s->fn->top : &s->fn->body;
}

spv_id
spv_op(spv *s, uint32_t opcode, spv_id type, uint32_t n, const uint32_t *operands)
{
    spv_words *to = place_of_ops(s);
    spv_id id = spv_new(s);
    vec_push(to, (n + 3) << 16 | opcode);
    vec_push(to, type);
    vec_push(to, id);
    put_words(to, n, operands);
    return id;
}

void
spv_do(spv *s, uint32_t opcode, uint32_t n, const uint32_t *operands)
{
    spv_put(place_of_ops(s), opcode, n, operands);
}

/* -- types and constants ------------------------------------------------------------------------------------------- */

spv_id
spv_int(spv *s, uint32_t bits)
{
    return spv_known(s, SPV_INT, 0, spv_list(bits, 0));
}

spv_id
spv_float(spv *s, uint32_t bits)
{
    return spv_known(s, SPV_FLOAT, 0, 1, &bits);
}

spv_id
spv_bool(spv *s)
{
    return spv_known(s, SPV_BOOL, 0, 0, NULL);
}

spv_id
spv_void(spv *s)
{
    return spv_known(s, SPV_VOID, 0, 0, NULL);
}

spv_id
spv_pointer(spv *s, uint32_t storage, spv_id to)
{
    return spv_known(s, SPV_POINTER, 0, spv_list(storage, to));
}

spv_id
spv_array(spv *s, spv_id of, uint32_t n)
{
    return spv_known(s, SPV_ARRAY, 0, spv_list(of, spv_u32(s, n)));
}

spv_id
spv_u32(spv *s, uint32_t v)
{
    return spv_known(s, SPV_CONSTANT, spv_int(s, 32), 1, &v);
}

spv_id
spv_u64(spv *s, uint64_t v)
{
    return spv_known(s, SPV_CONSTANT, spv_int(s, 64), spv_list((uint32_t)v, (uint32_t)(v >> 32)));
}

spv_id
spv_truth(spv *s, bool v)
{
    return spv_known(s, v ? SPV_TRUE : SPV_FALSE, spv_bool(s), 0, NULL);
}

/* -- functions ----------------------------------------------------------------------------------------------------- */

spv_id
spv_function_begin(spv *s, spv_function *f, spv_id result, uint32_t n, const spv_id *parameters, spv_id *values)
{
    spv_words type = {.in = s->in};
    *f = (spv_function){.head.in = s->in, .variables.in = s->in, .top.in = s->in, .body.in = s->in};
    vec_push(&type, result);
    put_words(&type, n, parameters);
    spv_id fn = spv_new(s), of = spv_known(s, SPV_FUNCTION_TYPE, 0, (uint32_t)type.n, type.at);
    spv_put(&f->head, SPV_FUNCTION, spv_list(result, fn, 0, of));
    for (uint32_t i = 0; i < n; i++)
        spv_put(&f->head, SPV_PARAMETER, spv_list(parameters[i], values[i] = spv_new(s)));
    f->block = spv_new(s);
    spv_put(&f->head, SPV_LABEL, 1, &f->block);
    s->fn = f;
    return fn;
}

void
spv_function_end(spv *s, spv_function *f)
{
    spv_words *to = &s->sections[SPV_FUNCTIONS];
    put_words(to, (uint32_t)f->head.n, f->head.at);
    put_words(to, (uint32_t)f->variables.n, f->variables.at);
    put_words(to, (uint32_t)f->top.n, f->top.at);
    put_words(to, (uint32_t)f->body.n, f->body.at);
    spv_put(to, SPV_FUNCTION_END, 0, NULL);
}

spv_id
spv_local(spv *s, spv_id type)
{
    spv_id id = spv_new(s);
    spv_put(&s->fn->variables, SPV_VARIABLE, spv_list(spv_pointer(s, SPV_IN_FUNCTION, type), id, SPV_IN_FUNCTION));
    return id;
}

void
spv_block(spv *s, spv_id label)
{
    spv_put(place_of_ops(s), SPV_LABEL, 1, &label);
    s->fn->block = label;
}

spv_id
spv_phi(spv *s, spv_id type, uint32_t n, const uint32_t *sources, size_t *place)
{
    spv_id id = spv_op(s, SPV_PHI, type, 2 * n, sources);
    if (place)
        *place = place_of_ops(s)->n - 2 * n;
    return id;
}

void
spv_tell(spv *s, size_t place, uint32_t source, spv_id value, spv_id block)
{
    spv_words *ops = place_of_ops(s);
    ops->at[place + 2 * source] = value;
    ops->at[place + 2 * source + 1] = block;
}

/* -- the module ------------------------------------------------------------------------------------------------------ */

/* entries, each with all global variables behind its name */
static void
put_entries(const spv *s, spv_words *module)
{
    const spv_words *e = &s->sections[SPV_ENTRIES];
    for (size_t i = 0; i < e->n;) {
        uint32_t length = e->at[i] >> 16;
        vec_push(module, e->at[i] + ((uint32_t)s->interface.n << 16));
        put_words(module, length - 1, e->at + i + 1);
        put_words(module, (uint32_t)s->interface.n, s->interface.at);
        i += length + 1;
    }
}

void
spv_end(spv *s, spv_words *module)
{
    put_words(module, spv_list(MAGIC, VERSION, 0, s->next, 0));
    for (int i = 0; i < SPV_SECTIONS; i++)
        if (i == SPV_ENTRIES)
            put_entries(s, module);
        else
            put_words(module, (uint32_t)s->sections[i].n, s->sections[i].at);
}

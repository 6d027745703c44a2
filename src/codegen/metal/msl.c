/* A SPIR-V module as MSL: types, variables, functions. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/metal/print.h"

enum { HEADER = 5, BOUND = 3 };
enum { DECORATION_BUILTIN = 11, BUILTIN_GROUP = 26, BUILTIN_LOCAL_INDEX = 29, BUILTIN_SUBGROUP_LANE = 41 };

/* Floats stay as they are written. What MSL has in another form than the generator needs is in functions: a compare-and-exchange that may
 * fail for no reason, SIMD-group functions of 32 bits. Memory of threadgroups is declared by a macro, as C++ compilers have to be told
 * another thing. */
static const char prelude[] =
    "#include <metal_stdlib>\n"
    "#pragma METAL fp math_mode(safe)\n"
    "#pragma METAL fp contract(off)\n"
    "using namespace metal;\n"
    "#ifndef SHARED\n"
    "#define SHARED(type, name) threadgroup type name\n"
    "#endif\n"
    "\n"
    "inline uint exchange_if(device uint *at, uint value, uint expected) {\n"
    "    uint found = expected;\n"
    "    while (!atomic_compare_exchange_weak_explicit(reinterpret_cast<device atomic_uint *>(at), &found, value, memory_order_relaxed,\n"
    "                                                  memory_order_relaxed))\n"
    "        if (found != expected)\n"
    "            break;\n"
    "    return found;\n"
    "}\n"
    "inline uint4 lanes_where(bool condition) {\n"
    "    uint4 found = uint4(0u);\n"
    "    found.x = uint(simd_vote::vote_t(simd_ballot(condition)));\n"
    "    return found;\n"
    "}\n"
    "inline uint of_lane(uint v, uint lane) { return simd_shuffle(v, ushort(lane)); }\n"
    "inline ulong of_lane(ulong v, uint lane) {\n"
    "    return ulong(of_lane(uint(v), lane)) | ulong(of_lane(uint(v >> 32), lane)) << 32;\n"
    "}\n"
    "inline uint of_partner(uint v, uint mask) { return simd_shuffle_xor(v, ushort(mask)); }\n"
    "inline ulong of_partner(ulong v, uint mask) {\n"
    "    return ulong(of_partner(uint(v), mask)) | ulong(of_partner(uint(v >> 32), mask)) << 32;\n"
    "}\n\n";

void
msl_refuse(msl *m, const char *format, ...)
{
    va_list args;
    char text[160];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!m->failed)
        diag_add(m->diags, DIAG_ERROR, MSL_ERROR, (diag_place){0}, "Metal: %s", text);
    m->failed = true;
}

void
msl_line(msl *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (unsigned i = 0; i < m->depth; i++)
        str_addz(m->out, "    ");
    str_addv(m->out, format, args);
    str_addc(m->out, '\n');
    va_end(args);
}

/* -- the module's ids ---------------------------------------------------------------------------------------------------- */

uint32_t
msl_result(const uint32_t *ins)
{
    switch (msl_opcode(ins)) {
    case SPV_NAME: case SPV_EXTENSION: case SPV_MEMORY_MODEL: case SPV_ENTRY: case SPV_MODE: case SPV_CAPABILITY: case SPV_FUNCTION_END:
    case SPV_STORE: case SPV_DECORATE: case SPV_MEMBER_DECORATE: case SPV_BARRIER: case SPV_ATOMIC_STORE: case SPV_LOOP_MERGE:
    case SPV_SELECTION_MERGE: case SPV_BRANCH: case SPV_BRANCH_IF: case SPV_RETURN: case SPV_RETURN_VALUE: case SPV_UNREACHABLE:
        return 0;
    case SPV_IMPORT: case SPV_VOID: case SPV_BOOL: case SPV_INT: case SPV_FLOAT: case SPV_VECTOR: case SPV_ARRAY: case SPV_STRUCT:
    case SPV_POINTER: case SPV_FUNCTION_TYPE: case SPV_LABEL:
        return 1;
    }
    return 2;
}

static void
check_capability(msl *m, uint32_t capability)
{
    if (capability == SPV_CAP_FLOAT64)
        msl_refuse(m, "f64, which MSL does not have");
    else if (capability == SPV_CAP_INT64_ATOMICS || capability == SPV_CAP_ATOMIC_ADD64)
        msl_refuse(m, "an atomic update of 64 bits, which MSL does not have");
}

static void
note_id(msl *m, const uint32_t *ins)
{
    uint32_t result = msl_result(ins);
    if (msl_opcode(ins) == SPV_CAPABILITY)
        check_capability(m, ins[1]);
    else if (msl_opcode(ins) == SPV_NAME)
        m->names[ins[1]] = (const char *)(ins + 2);
    if (result)
        m->made[ins[result]] = ins;
}

static bool
note_all(msl *m)
{
    for (const uint32_t *ins = m->words + HEADER; ins < m->end; ins = msl_next(ins)) {
        if (!msl_length(ins) || msl_length(ins) > (size_t)(m->end - ins)) {
            msl_refuse(m, "a module that was cut short");
            return false;
        }
        note_id(m, ins);
    }
    return !m->failed;
}

/* the next instruction of the kind, from one on; the end: none */
static const uint32_t *
find_from(const msl *m, const uint32_t *ins, uint32_t opcode)
{
    while (ins < m->end && msl_opcode(ins) != opcode)
        ins = msl_next(ins);
    return ins;
}

#define each(m, ins, opcode)                                                                                                              \
    const uint32_t *ins = find_from(m, (m)->words + HEADER, opcode);                                                                   \
    ins < (m)->end;                                                                                                                     \
    ins = find_from(m, msl_next(ins), opcode)

/* -- types and variables -------------------------------------------------------------------------------------------------- */

static void
print_structs(msl *m)
{
    for (const uint32_t *t = m->words + HEADER; t < m->end && msl_opcode(t) != SPV_FUNCTION; t = msl_next(t)) {
        if (msl_opcode(t) == SPV_ARRAY)
            msl_line(m, "struct t%u { %s e[%u]; };", t[1], msl_type(m, t[2]), m->made[t[3]][3]);
        if (msl_opcode(t) != SPV_STRUCT)
            continue;
        msl_line(m, "struct t%u {", t[1]);
        for (uint32_t i = 2; i < msl_length(t); i++)
            msl_line(m, "    %s m%u;", msl_type(m, t[i]), i - 2);
        msl_line(m, "};");
    }
}

/* of the module: variables in functions stand behind the first function */
#define each_global(m, v)                                                                                                                 \
    const uint32_t *v = find_from(m, (m)->words + HEADER, SPV_VARIABLE), *functions_ = find_from(m, v, SPV_FUNCTION);                     \
    v < functions_;                                                                                                                     \
    v = find_from(m, msl_next(v), SPV_VARIABLE)

/* Tables are constants of the program; all else is handed from function to function. */
static void
print_globals(msl *m)
{
    for (each_global(m, v))
        if (msl_is_table(v))
            msl_line(m, "constant %s v%u = %s;", msl_type(m, m->made[v[1]][3]), v[2], msl_initial(m, v[4]));
    msl_line(m, "struct state {");
    for (each_global(m, v)) {
        const char *type = msl_type(m, m->made[v[1]][3]);
        bool points = v[3] == SPV_WORKGROUP || v[3] == SPV_PUSH;
        if (points)
            msl_line(m, "    %s %s *v%u;", msl_space(m, v[2]), type, v[2]);
        else if (!msl_is_table(v))
            msl_line(m, "    %s v%u;", type, v[2]);
    }
    msl_line(m, "};\n");
}

/* -- functions ------------------------------------------------------------------------------------------------------------ */

static void
print_fn_head(msl *m, const uint32_t *fn, const char *end)
{
    str text = {.in = m->in};
    const uint32_t *p = msl_next(fn);
    str_addf(&text, "%s %s(thread state &x", msl_type(m, fn[1]), msl_function(m, fn[2]));
    for (; msl_opcode(p) == SPV_PARAMETER; p = msl_next(p))
        str_addf(&text, ", %s v%u", msl_type(m, p[1]), p[2]);
    msl_line(m, "%s)%s", text.ptr, end);
}

static void
declare(msl *m, spv_id type, spv_id id)
{
    if (msl_opcode(m->made[type]) == SPV_POINTER)
        msl_line(m, "%s %s *v%u;", msl_space(m, id), msl_type(m, m->made[type][3]), id);
    else if (msl_opcode(m->made[type]) != SPV_VOID)
        msl_line(m, "%s v%u;", msl_type(m, type), id);
}

static void
print_one_function(msl *m, const uint32_t *fn)
{
    const uint32_t *first = find_from(m, fn, SPV_LABEL);
    print_fn_head(m, fn, " {");
    m->depth = 1;
    for (const uint32_t *ins = first; msl_opcode(ins) != SPV_FUNCTION_END; ins = msl_next(ins))
        if (msl_result(ins) == 2)
            declare(m, msl_opcode(ins) == SPV_VARIABLE ? m->made[ins[1]][3] : ins[1], ins[2]);
    msl_body(m, first);
    m->depth = 0;
    msl_line(m, "}\n");
}

/* -- entries -------------------------------------------------------------------------------------------------------------- */

static uint32_t
builtin_of(const msl *m, spv_id variable)
{
    for (each(m, d, SPV_DECORATE))
        if (d[1] == variable && d[2] == DECORATION_BUILTIN)
            return d[3];
    return 0;
}

static const char *
attribute_of(msl *m, const uint32_t *variable)
{
    uint32_t builtin = builtin_of(m, variable[2]);
    if (variable[3] == SPV_PUSH)
        return "buffer(0)";
    if (builtin == BUILTIN_GROUP)
        return "threadgroup_position_in_grid";
    if (builtin == BUILTIN_SUBGROUP_LANE)
        return "thread_index_in_simdgroup";
    if (builtin != BUILTIN_LOCAL_INDEX)
        msl_refuse(m, "input %u of Vulkan", builtin);
    return "thread_index_in_threadgroup";
}

/* A kernel function fills the state. Memory of a threadgroup can be declared nowhere else. */
static void
print_entry(msl *m, const uint32_t *entry)
{
    str text = {.in = m->in};
    const char *comma = "";
    str_addf(&text, "[[max_total_threads_per_threadgroup(%d)]] kernel void %s(", RT_WARP, (const char *)(entry + 3));
    for (each_global(m, v)) {
        const char *type = msl_type(m, m->made[v[1]][3]);
        if (v[3] != SPV_PUSH && v[3] != SPV_INPUT)
            continue;
        str_addf(&text, "%s%s%s %sv%u [[%s]]", comma, v[3] == SPV_PUSH ? "constant " : "", type, v[3] == SPV_PUSH ? "&" : "", v[2],
                 attribute_of(m, v));
        comma = ", ";
    }
    msl_line(m, "%s) {", text.ptr);
    m->depth = 1;
    msl_line(m, "state x;");
    for (each_global(m, v)) {
        if (v[3] == SPV_WORKGROUP)
            msl_line(m, "SHARED(%s, v%u);", msl_type(m, m->made[v[1]][3]), v[2]);
        if (v[3] == SPV_WORKGROUP || v[3] == SPV_PUSH)
            msl_line(m, "x.v%u = &v%u;", v[2], v[2]);
        else if (v[3] == SPV_INPUT)
            msl_line(m, "x.v%u = v%u;", v[2], v[2]);
    }
    msl_line(m, "%s(x);", msl_function(m, entry[2]));
    m->depth = 0;
    msl_line(m, "}\n");
}

static void
print_msl(msl *m)
{
    str_addz(m->out, prelude);
    print_structs(m);
    print_globals(m);
    for (each(m, fn, SPV_FUNCTION))
        print_fn_head(m, fn, ";");
    msl_line(m, "%s", "");
    for (each(m, fn, SPV_FUNCTION))
        print_one_function(m, fn);
    for (each(m, entry, SPV_ENTRY))
        print_entry(m, entry);
}

rg_status
msl_print(const uint32_t *words, uint32_t nwords, str *out, diag_list *diags)
{
    msl m = {.words = words, .end = words + nwords, .out = out, .in = mem_scratch(), .diags = diags};
    if (nwords < HEADER) {
        msl_refuse(&m, "a module that was cut short");
        return RG_UNSUPPORTED;
    }
    m.bound = words[BOUND];
    m.made = arena_new_n(m.in, const uint32_t *, m.bound + 1);
    m.names = arena_new_n(m.in, const char *, m.bound + 1);
    if (note_all(&m))
        print_msl(&m);
    return m.failed ? RG_UNSUPPORTED : RG_OK;
}

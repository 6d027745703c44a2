/* Objects in memory: one that LLVM made runs; each relocation, decoded as the processor would; damaged ones are refused.
 *   object_test [COUNT]     COUNT: damaged objects to try
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/ll.h"
#include "rt/cpu/cpu.h"
#include "rt/load/object.h"
#include "rt/load/symbols.h"
#include "check.h"

#include <elf.h>

/* -- an object with every kind of relocation ---------------------------------------------------- */

enum { TEXT_BYTES = 64, DATA_BYTES = 64, MAGIC_AT = 48, NAMES_BYTES = 24 };
enum { SECTION_TEXT = 1, SECTION_DATA, SECTION_RELA, SECTION_SYMBOLS, SECTION_NAMES, SECTIONS };
enum { SYMBOL_DATA = 1, SYMBOL_ENTRY, SYMBOL_FAR, SYMBOLS };
static const char magic[] = "found it";
static const char names[NAMES_BYTES] = "\0entry\0far_function\0";

typedef struct made_object {
    Elf64_Ehdr head;
    Elf64_Shdr sections[SECTIONS];
    unsigned char text[TEXT_BYTES], data[DATA_BYTES];
    Elf64_Rela rela[8];
    Elf64_Sym symbols[SYMBOLS];
    char names[NAMES_BYTES];
} made_object;

static Elf64_Shdr
section(uint32_t type, uint64_t flags, size_t offset, size_t size, uint32_t link, uint32_t info, size_t each)
{
    return (Elf64_Shdr){.sh_type = type, .sh_flags = flags, .sh_offset = offset, .sh_size = size, .sh_link = link, .sh_info = info,
                        .sh_addralign = 16, .sh_entsize = each};
}

static made_object
make_object(uint16_t machine, const Elf64_Rela *rela, size_t n)
{
    made_object o = {0};
    memcpy(o.head.e_ident, ELFMAG, SELFMAG);
    o.head.e_ident[EI_CLASS] = ELFCLASS64;
    o.head.e_ident[EI_DATA] = ELFDATA2LSB;
    o.head.e_type = ET_REL;
    o.head.e_machine = machine;
    o.head.e_shoff = offsetof(made_object, sections);
    o.head.e_shentsize = sizeof(Elf64_Shdr);
    o.head.e_shnum = SECTIONS;
    o.sections[SECTION_TEXT] = section(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, offsetof(made_object, text), TEXT_BYTES, 0, 0, 0);
    o.sections[SECTION_DATA] = section(SHT_PROGBITS, SHF_ALLOC, offsetof(made_object, data), DATA_BYTES, 0, 0, 0);
    o.sections[SECTION_RELA] = section(SHT_RELA, 0, offsetof(made_object, rela), n * sizeof *rela, SECTION_SYMBOLS, SECTION_TEXT,
                                       sizeof *rela);
    o.sections[SECTION_SYMBOLS] = section(SHT_SYMTAB, 0, offsetof(made_object, symbols), sizeof o.symbols, SECTION_NAMES, 0,
                                          sizeof(Elf64_Sym));
    o.sections[SECTION_NAMES] = section(SHT_STRTAB, 0, offsetof(made_object, names), NAMES_BYTES, 0, 0, 0);
    o.symbols[SYMBOL_DATA] = (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = SECTION_DATA};
    o.symbols[SYMBOL_ENTRY] = (Elf64_Sym){.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = SECTION_TEXT};
    o.symbols[SYMBOL_FAR] = (Elf64_Sym){.st_name = 7};
    memcpy(o.names, names, sizeof names);
    memcpy(o.data + MAGIC_AT, magic, sizeof magic);
    memcpy(o.rela, rela, n * sizeof *rela);
    return o;
}

static const uint64_t far_address = 0x0000123456789abc;

static void *
find_far(const char *name)
{
    return strcmp(name, "far_function") == 0 ? (void *)(uintptr_t)far_address : NULL;
}

static rt_object *
load(uint16_t machine, const void *bytes, size_t n, str *error)
{
    error->len = 0;
    return rt_object_load_for(machine, (rg_str){bytes, n}, "entry", find_far, error);
}

static bool
is_magic(uint64_t address)
{
    return memcmp((const void *)(uintptr_t)address, magic, sizeof magic) == 0;
}

static uint64_t
word_at(uint64_t address, size_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, (const void *)(uintptr_t)address, bytes);
    return word;
}

static int64_t
sign(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

#define RELA(at, kind, symbol, addend) {at, ELF64_R_INFO((uint64_t)(symbol), kind), addend}

static void
test_x86(void)
{
    static const Elf64_Rela rela[] = {RELA(0, R_X86_64_PC32, SYMBOL_DATA, MAGIC_AT - 4), RELA(8, R_X86_64_64, SYMBOL_DATA, MAGIC_AT),
                                      RELA(16, R_X86_64_PLT32, SYMBOL_FAR, -4), RELA(20, R_X86_64_PLT32, SYMBOL_FAR, -4),
                                      RELA(24, R_X86_64_64, SYMBOL_FAR, 0)};
    made_object o = make_object(EM_X86_64, rela, countof(rela));
    str error = {0};
    rt_object *object = load(EM_X86_64, &o, sizeof o, &error);
    CHECK(object, "%s", error.ptr);
    if (!object)
        return;
    uint64_t text = (uint64_t)(uintptr_t)rt_object_entry(object);
    CHECK(is_magic(text + 4 + (uint64_t)sign(word_at(text, 4), 32)), "PC32");
    CHECK(is_magic(word_at(text + 8, 8)), "64");
    uint64_t stub = text + 20 + (uint64_t)sign(word_at(text + 16, 4), 32);
    CHECK(stub == text + 24 + (uint64_t)sign(word_at(text + 20, 4), 32), "one stub for both calls");
    CHECK(word_at(stub, 6) == 0x225ff && word_at(stub + 8, 8) == far_address, "a jump through the eight bytes two behind it");
    CHECK(word_at(text + 24, 8) == far_address, "64, of a function outside");
    rt_object_free(object);
    str_free(&error);
}

static uint64_t
page_of_arm(uint64_t at)
{
    uint64_t word = word_at(at, 4), pages = (word >> 29 & 3) | (word >> 5 & 0x7ffff) << 2;
    return (at & ~(uint64_t)0xfff) + ((uint64_t)sign(pages, 21) << 12);
}

static void
test_arm(void)
{
    static const Elf64_Rela rela[] = {RELA(0, R_AARCH64_ADR_PREL_PG_HI21, SYMBOL_DATA, MAGIC_AT),
                                      RELA(4, R_AARCH64_ADD_ABS_LO12_NC, SYMBOL_DATA, MAGIC_AT),
                                      RELA(8, R_AARCH64_LDST128_ABS_LO12_NC, SYMBOL_DATA, MAGIC_AT),
                                      RELA(12, R_AARCH64_LDST64_ABS_LO12_NC, SYMBOL_DATA, MAGIC_AT),
                                      RELA(16, R_AARCH64_CALL26, SYMBOL_FAR, 0),
                                      RELA(20, R_AARCH64_JUMP26, SYMBOL_ENTRY, 8),
                                      RELA(24, R_AARCH64_PREL32, SYMBOL_DATA, MAGIC_AT),
                                      RELA(32, R_AARCH64_ABS64, SYMBOL_DATA, MAGIC_AT)};
    made_object o = make_object(EM_AARCH64, rela, countof(rela));
    static const uint32_t words[] = {0x90000001, 0x91000021, 0x3dc00020, 0xf9400022, 0x94000000, 0x14000000};
    memcpy(o.text, words, sizeof words);
    str error = {0};
    rt_object *object = load(EM_AARCH64, &o, sizeof o, &error);
    CHECK(object, "%s", error.ptr);
    if (!object)
        return;
    uint64_t text = (uint64_t)(uintptr_t)rt_object_entry(object), page = page_of_arm(text);
    CHECK(is_magic(page + (word_at(text + 4, 4) >> 10 & 0xfff)), "adrp, add");
    CHECK(is_magic(page + ((word_at(text + 8, 4) >> 10 & 0xfff) << 4)), "ldr of 16 bytes");
    CHECK(is_magic(page + ((word_at(text + 12, 4) >> 10 & 0xfff) << 3)), "ldr of 8 bytes");
    for (unsigned i = 0; i < 6; i++) {
        static const uint32_t fields[] = {0x60ffffe0, 0x3ffc00, 0x3ffc00, 0x3ffc00, 0x3ffffff, 0x3ffffff};
        CHECK((word_at(text + 4 * i, 4) & ~(uint64_t)fields[i]) == (words[i] & ~fields[i]), "instruction %u keeps its other bits", i);
    }
    uint64_t stub = text + 16 + ((uint64_t)sign(word_at(text + 16, 4), 26) << 2);
    CHECK(word_at(stub, 8) == 0xd61f020058000050 && word_at(stub + 8, 8) == far_address, "ldr x16, br x16, the address");
    CHECK(20 + sign(word_at(text + 20, 4), 26) * 4 == 8, "b");
    CHECK(is_magic(text + 24 + (uint64_t)sign(word_at(text + 24, 4), 32)), "PREL32");
    CHECK(is_magic(word_at(text + 32, 8)), "ABS64");
    rt_object_free(object);
    str_free(&error);
}

static void
check_refused(const char *what, uint16_t machine, const made_object *o, size_t bytes, const char *says)
{
    str error = {0};
    rt_object *object = load(machine, o, bytes, &error);
    CHECK(!object && error.len && strstr(error.ptr, says), "%s: %s", what, object ? "it was loaded" : error.len ? error.ptr : "");
    rt_object_free(object);
    str_free(&error);
}

static void
test_refusals(void)
{
    static const Elf64_Rela one[] = {RELA(0, R_X86_64_PC32, SYMBOL_DATA, 0)}, got[] = {RELA(0, R_X86_64_GOTPCREL, SYMBOL_DATA, 0)},
                            late[] = {RELA(TEXT_BYTES - 3, R_X86_64_PC32, SYMBOL_DATA, 0)},
                            none[] = {RELA(0, R_X86_64_PC32, SYMBOLS, 0)}, odd[] = {RELA(0, R_AARCH64_LDST64_ABS_LO12_NC, SYMBOL_DATA, 4)},
                            away[] = {RELA(0, R_X86_64_PC32, SYMBOL_DATA, (int64_t)1 << 40)};
    made_object o = make_object(EM_X86_64, one, 1), bad = o;
    check_refused("nothing", EM_X86_64, &o, 0, "too short");
    check_refused("half of it", EM_X86_64, &o, sizeof o / 2, "damaged");
    check_refused("another machine's", EM_AARCH64, &o, sizeof o, "another machine");
    bad = make_object(EM_X86_64, got, 1);
    check_refused("an unknown relocation", EM_X86_64, &bad, sizeof bad, "not known");
    bad = make_object(EM_X86_64, late, 1);
    check_refused("a relocation at the end", EM_X86_64, &bad, sizeof bad, "leaves its section");
    bad = make_object(EM_X86_64, none, 1);
    check_refused("a symbol too many", EM_X86_64, &bad, sizeof bad, "no symbol");
    bad = make_object(EM_X86_64, away, 1);
    check_refused("a distance", EM_X86_64, &bad, sizeof bad, "too far");
    bad = make_object(EM_AARCH64, odd, 1);
    check_refused("an odd address", EM_AARCH64, &bad, sizeof bad, "not aligned");
    bad = o;
    bad.symbols[SYMBOL_ENTRY].st_name = 0;
    check_refused("no entry", EM_X86_64, &bad, sizeof bad, "no function `entry`");
    bad = o;
    bad.symbols[SYMBOL_ENTRY].st_shndx = SECTION_DATA;
    check_refused("an entry among data", EM_X86_64, &bad, sizeof bad, "is no function");
    bad = o;
    bad.sections[SECTION_TEXT].sh_size = UINT64_MAX - 8;
    check_refused("a huge section", EM_X86_64, &bad, sizeof bad, "leaves the object");
    bad = o;
    bad.sections[SECTION_DATA].sh_type = SHT_NOBITS;
    bad.sections[SECTION_DATA].sh_size = (uint64_t)1 << 40;
    check_refused("a huge empty section", EM_X86_64, &bad, sizeof bad, "cannot be loaded");
    bad = o;
    bad.names[NAMES_BYTES - 1] = 'x';
    check_refused("a name without an end", EM_X86_64, &bad, sizeof bad, "names are damaged");
    static const Elf64_Rela other[] = {RELA(0, R_X86_64_PLT32, SYMBOL_FAR, -4)};
    bad = make_object(EM_X86_64, other, 1);
    bad.names[7] = 'b';
    check_refused("a function that is not there", EM_X86_64, &bad, sizeof bad, "no function `bar_function`");
}

/* -- objects of LLVM's -------------------------------------------------------------------------- */

/* calls the runtime and libm, has constants in memory and a jump table */
static const char kernel[] = "kernel @entry(%n: i32, %x: buf<f64,1>) {\n"
                             "  %zero: i32 = const 0\n"
                             "  parallel (%i: i32) = (%zero) to (%n) {\n"
                             "    %v: f64 = load %x[%i]\n"
                             "    %three: f64 = const 0.3\n"
                             "    %r: f64 = rem %v, %three\n"
                             "    %s: f64 = sin %r\n"
                             "    store %x[%i], %s\n"
                             "    yield\n"
                             "  }\n"
                             "  yield\n"
                             "}\n";

static void *
find_plain(const char *name)
{
    char room[64];
    void *at = rt_symbol_find(name);
    snprintf(room, sizeof room, "rg_%s", name);
    return at ? at : rt_symbol_find(room);
}

static bool
emit(const char *triple, str *object)
{
    diag_list diags = {0};
    static const char *const name = "entry";
    ir_module *m = ir_parse(rg_str_of(kernel), "kernel", &diags);
    CHECK(m, "%s", diags.text.ptr);
    const ir_fn *fn = m->first;
    ll_options options = {.triple = triple, .cpu = triple ? "generic" : NULL};
    rg_status status = ll_emit_object(&fn, &name, 1, &options, object, &diags);
    CHECK(!status || status == RG_UNSUPPORTED, "%s", diags.text.ptr);
    diag_free(&diags);
    ir_module_free(m);
    return !status;
}

static void
test_run(const str *bytes)
{
    enum { N = 1000 };
    static double x[N], want[N];
    str error = {0};
    rt_object *object = rt_object_load(str_view(bytes), "entry", find_plain, &error);
    CHECK(object, "%s", error.ptr);
    if (!object)
        return;
    double (*rem)(double, double), (*sine)(double);
    void *at = rt_symbol_find("rg_fmod");
    memcpy(&rem, &at, sizeof at);
    at = rt_symbol_find("rgm_sin");
    memcpy(&sine, &at, sizeof at);
    for (int i = 0; i < N; i++) {
        x[i] = i * 0.7;
        want[i] = sine(rem(x[i], 0.3));
    }
    rt_arg args[2] = {{.bits = N}, {.plane = {x}, .extent = {N}, .stride = {1}}};
    rt_kernel_fn *fn;
    at = rt_object_entry(object);
    memcpy(&fn, &at, sizeof at);
    rt_cpu *cpu = rt_cpu_create(2, 0);
    CHECK(rt_cpu_launch(cpu, fn, args, NULL) == RT_OK && memcmp(x, want, sizeof x) == 0, "values");
    rt_cpu_destroy(cpu);
    rt_object_free(object);
}

/* -- damage ------------------------------------------------------------------------------------- */

static uint64_t
draw(uint64_t *state, uint64_t below)
{
    *state += 0x9e3779b97f4a7c15u;
    return hash_u64(0, *state) % below;
}

/* All numbers of the object's tables, and bytes anywhere. Memory that is too much is given as such. */
static void
damage(uint64_t *state, unsigned char *bytes, size_t *n)
{
    static const uint64_t numbers[] = {0, 1, 7, 0x7fffffff, 0xffffffff, (uint64_t)1 << 40, UINT64_MAX, UINT64_MAX - 64};
    for (uint64_t times = 1 + draw(state, 4); times > 0; times--) {
        size_t at = draw(state, *n), size = (size_t)1 << draw(state, 4);
        at = draw(state, 2) ? at & ~(size - 1) : at;
        uint64_t number = draw(state, 3) ? numbers[draw(state, countof(numbers))] : draw(state, *n * 2);
        if (draw(state, 8) == 0)
            bytes[at] ^= (unsigned char)(1u << draw(state, 8));
        else
            memcpy(bytes + at, &number, size < *n - at ? size : *n - at);
    }
    if (draw(state, 16) == 0)
        *n = draw(state, *n + 1);
}

static void
test_damage(uint16_t machine, const void *whole, size_t size, rt_object_find *find, long count)
{
    uint64_t state = size;
    long loaded = 0;
    str error = {0};
    for (long i = 0; i < count; i++) {
        size_t n = size;
        unsigned char *bytes = malloc(size); /* of its exact size, so that sanitizers see its end */
        memcpy(bytes, whole, size);
        damage(&state, bytes, &n);
        unsigned char *exact = malloc(n ? n : 1);
        memcpy(exact, bytes, n);
        free(bytes);
        error.len = 0;
        arena_mark mark = arena_here(mem_scratch());
        rt_object *object = rt_object_load_for(machine, (rg_str){(char *)exact, n}, "entry", find, &error);
        loaded += object != NULL;
        CHECK(object || error.len, "a reason, for damage %ld", i);
        rt_object_free(object);
        arena_release(mem_scratch(), mark);
        free(exact);
    }
    CHECK(loaded < count, "something is refused");
    str_free(&error);
}

int
main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 20000;
    test_x86();
    test_arm();
    test_refusals();
    static const Elf64_Rela rela[] = {RELA(0, R_X86_64_PC32, SYMBOL_DATA, 0), RELA(16, R_X86_64_PLT32, SYMBOL_FAR, -4)};
    made_object o = make_object(EM_X86_64, rela, countof(rela));
    test_damage(EM_X86_64, &o, sizeof o, find_far, count);
    static const struct {
        const char *triple;
        uint16_t machine;
    } others[] = {{"x86_64-linux-gnu", EM_X86_64}, {"aarch64-linux-gnu", EM_AARCH64}};
    str bytes = {0};
    if (emit(NULL, &bytes))
        test_run(&bytes);
    for (size_t i = 0; i < countof(others); i++) {
        bytes.len = 0;
        if (!emit(others[i].triple, &bytes))
            continue;
        str error = {0};
        rt_object *object = rt_object_load_for(others[i].machine, str_view(&bytes), "entry", find_plain, &error);
        CHECK(object, "%s: %s", others[i].triple, error.ptr);
        rt_object_free(object);
        test_damage(others[i].machine, bytes.ptr, bytes.len, find_plain, count);
    }
    str_free(&bytes);
    return check_done();
}

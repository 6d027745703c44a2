/* hsaco_test [--gpus NAME,...] [--every N [--first I]] [--all] [--deterministic] [--lld PATH] [--times] FILE.c|FOLDER...
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the files become code objects for AMD's GPUs: of all pairs of a kernel and a form every Nth is compiled, from number I
 * (from 0) on, for one GPU of the list after the other; with --all for each of them. What a loader reads of each is checked: segments,
 * symbols, the descriptor, and the metadata, which have to say the same, and what the kernel must need; and in the code that no vector
 * instruction waits in vain for lanes to come back (llvm/start.c). With --lld every one is linked by that linker, too: symbols, notes and
 * code have to be the same. What takes more of a thread's own memory than the GPU has is refused. */
#include "codegen/amd/link.h"
#include "codegen/llvm/ll.h"
#include "each_kernel.h"
#include "pipeline/pipeline.h"

#include <elf.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

enum { GPUS_MAX = 16, HIDDEN_BYTES = 256, DESCRIPTOR_BYTES = 64, SHARED_MOST = 1 << 16, SCRATCH_MOST = 1 << 23 /* of a wave */ };

typedef struct setting {
    char *gpus[GPUS_MAX];
    uint32_t ngpus;
    const char *lld;
    int every, first;
    bool all, deterministic, times;
} setting;

typedef struct tally {
    const setting *setting;
    int seen, made, compared, refused, failures;
    double longest;
} tally;

static void
fail(tally *t, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    t->failures++;
}

/* -- what the linker is given ---------------------------------------------------------------------------------------- */

static str given; /* the last object */

bool __wrap_amd_link(rg_str object, str *out, str *error);
bool __real_amd_link(rg_str object, str *out, str *error);

bool
__wrap_amd_link(rg_str object, str *out, str *error)
{
    given.len = 0;
    str_add(&given, object);
    return __real_amd_link(object, out, error);
}

/* -- what a loader reads ---------------------------------------------------------------------------------------------- */

typedef struct loaded {
    const char *at;
    size_t n;
} loaded;

static const Elf64_Ehdr *
header_of(loaded l)
{
    return (const Elf64_Ehdr *)l.at;
}

static const Elf64_Shdr *
section_of(loaded l, const char *name)
{
    const Elf64_Ehdr *h = header_of(l);
    const Elf64_Shdr *all = (const Elf64_Shdr *)(l.at + h->e_shoff);
    for (int i = 1; i < h->e_shnum; i++)
        if (strcmp(l.at + all[h->e_shstrndx].sh_offset + all[i].sh_name, name) == 0)
            return &all[i];
    return NULL;
}

/* by SysV's hash table, as a loader does it */
static const Elf64_Sym *
symbol_of(loaded l, const char *name)
{
    const Elf64_Shdr *symbols = section_of(l, ".dynsym"), *names = section_of(l, ".dynstr"), *hash = section_of(l, ".hash");
    uint32_t h = 0;
    if (!symbols || !names || !hash)
        return NULL;
    const uint32_t *table = (const uint32_t *)(l.at + hash->sh_offset);
    for (const char *c = name; *c; c++) {
        h = (h << 4) + (unsigned char)*c;
        h = (h ^ (h >> 28 << 4)) & 0x0fffffff;
    }
    for (uint32_t i = table[2 + h % table[0]]; i; i = table[2 + table[0] + i]) {
        const Elf64_Sym *s = (const Elf64_Sym *)(l.at + symbols->sh_offset) + i;
        if (strcmp(l.at + names->sh_offset + s->st_name, name) == 0)
            return s;
    }
    return NULL;
}

/* The number behind a key of the note, which is MessagePack; -1: there is none. */
static int64_t
noted(loaded l, const char *key)
{
    const Elf64_Shdr *note = section_of(l, ".note");
    size_t n = strlen(key);
    const unsigned char *at = note ? memmem(l.at + note->sh_offset, note->sh_size, key, n) : NULL;
    if (!at || (at[-1] != (unsigned char)(0xa0 | n) && at[-1] != n))
        return -1;
    at += n;
    switch (*at) {
    case 0xc2:
    case 0xc3:
        return *at - 0xc2;
    case 0xcc:
        return at[1];
    case 0xcd:
        return at[1] << 8 | at[2];
    case 0xce:
        return (int64_t)at[1] << 24 | at[2] << 16 | at[3] << 8 | at[4];
    }
    return *at < 0x80 ? *at : -1;
}

static bool
are_segments_right(loaded l)
{
    const Elf64_Ehdr *h = header_of(l);
    const Elf64_Phdr *all = (const Elf64_Phdr *)(l.at + h->e_phoff);
    uint64_t end = 0;
    unsigned kinds = 0;
    for (int i = 0; i < h->e_phnum; i++) {
        if (all[i].p_offset + all[i].p_filesz > l.n || all[i].p_memsz < all[i].p_filesz || all[i].p_vaddr != all[i].p_offset)
            return false;
        kinds |= all[i].p_type == PT_LOAD ? 1u << all[i].p_flags : all[i].p_type == PT_NOTE ? 256 : all[i].p_type == PT_DYNAMIC ? 512 : 0;
        if (all[i].p_type != PT_LOAD)
            continue;
        if (all[i].p_vaddr < end || all[i].p_vaddr % all[i].p_align)
            return false;
        end = all[i].p_vaddr + all[i].p_memsz;
    }
    return kinds == (1u << PF_R | 1u << (PF_R | PF_X) | 1u << (PF_R | PF_W) | 256 | 512);
}

/* the bytes of the descriptor, where it says what the note says too */
static bool
is_descriptor_right(loaded l, const char *kernel)
{
    uint32_t sizes[3];
    int64_t entry;
    str name = {0};
    str_addf(&name, "%s.kd", kernel);
    const Elf64_Sym *s = symbol_of(l, name.ptr), *code = symbol_of(l, kernel);
    str_free(&name);
    if (!s || !code || s->st_size != DESCRIPTOR_BYTES || s->st_value + s->st_size > l.n || ELF64_ST_TYPE(s->st_info) != STT_OBJECT ||
        ELF64_ST_TYPE(code->st_info) != STT_FUNC)
        return false;
    memcpy(sizes, l.at + s->st_value, sizeof sizes);
    memcpy(&entry, l.at + s->st_value + 16, sizeof entry);
    return s->st_value + (uint64_t)entry == code->st_value && code->st_value % 256 == 0 &&
           sizes[0] == noted(l, ".group_segment_fixed_size") &&
           sizes[1] == noted(l, ".private_segment_fixed_size") && sizes[2] == noted(l, ".kernarg_segment_size");
}

static void
check_object(const ir_fn *fn, const char *gpu, const char *what, loaded l, tally *t)
{
    bool old = strncmp(gpu, "gfx9", 4) == 0, generic = strstr(gpu, "generic") != NULL;
    int64_t arguments = ll_amd_by_value(fn) ? (int64_t)(ll_ptx_arguments(fn) * sizeof(rt_arg)) : 8, registers = noted(l, ".vgpr_count");
    if (l.n < sizeof(Elf64_Ehdr) || header_of(l)->e_type != ET_DYN || header_of(l)->e_ident[EI_ABIVERSION] != (generic ? 4 : 3) ||
        !are_segments_right(l)) {
        fail(t, what, "this is no code object");
        return;
    }
    if (!is_descriptor_right(l, "kernel"))
        fail(t, what, "the kernel's descriptor is wrong");
    if (noted(l, ".kernarg_segment_size") != 8 + arguments + HIDDEN_BYTES)
        fail(t, what, "arguments take other than they should");
    if (noted(l, ".wavefront_size") != (old ? 64 : 32) || (int64_t)ll_amd_wave(gpu) != noted(l, ".wavefront_size"))
        fail(t, what, "waves have another length");
    if (noted(l, ".max_flat_workgroup_size") != LL_AMD_BLOCK)
        fail(t, what, "blocks have another length");
    if (noted(l, ".group_segment_fixed_size") < 0 || noted(l, ".group_segment_fixed_size") > SHARED_MOST)
        fail(t, what, "there is not so much shared memory"); /* the runtime's counters, and small local arrays that LLVM puts there */
    if (noted(l, ".private_segment_fixed_size") < 0 ||
        noted(l, ".private_segment_fixed_size") > SCRATCH_MOST / noted(l, ".wavefront_size") ||
        noted(l, ".uses_dynamic_stack") > 0)
        fail(t, what, "a thread's own memory has no bound");
    if (registers <= 0 || registers > 512 || noted(l, ".sgpr_count") <= 0 || noted(l, ".sgpr_count") > 128)
        fail(t, what, "there are not so many registers");
}

/* -- lanes that come back ---------------------------------------------------------------------------------------------- */

enum { LINE = 256, NEAR = 3 };

typedef struct code {
    LLVMDisasmContextRef reader;
    uint8_t *at;
    uint64_t bytes;
    char line[LINE]; /* the instruction that was read last: its name behind a tab, a space, its operands */
} code;

/* How many bytes it has; 0: there is none. */
static size_t
read_instruction(code *c, uint64_t place)
{
    return place < c->bytes ? LLVMDisasmInstruction(c->reader, c->at + place, c->bytes - place, place, c->line, sizeof c->line) : 0;
}

static const char *
name_in(const code *c)
{
    return c->line + strspn(c->line, "\t ");
}

static bool
begins(const char *text, const char *const *words)
{
    while (*words && strncmp(text, *words, strlen(*words)) != 0)
        words++;
    return *words != NULL;
}

/* What does nothing where no lane is on. */
static bool
needs_lanes(const char *name)
{
    static const char *const all[] = {"v_", "global_", "flat_", "scratch_", "buffer_", "ds_", NULL};
    static const char *const none[] = {"v_readlane", "v_writelane", "v_readfirstlane", "v_cmp", "v_nop", "buffer_inv", "buffer_wbl2",
                                       "buffer_gl", "global_inv", "global_wb", NULL};
    return begins(name, all) && !begins(name, none);
}

static bool
leaves_block(const char *name)
{
    static const char *const all[] = {"s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_endpgm", NULL};
    return begins(name, all);
}

static bool
sets_lanes(const char *name)
{
    return strstr(name, "saveexec") || strncmp(name + strcspn(name, " "), " exec", 5) == 0 || strncmp(name, "v_cmpx", 6) == 0;
}

/* From a place on that is gone to where no lane is left: does anything that needs lanes stand before they come back? */
static bool
is_in_vain(code *c, uint64_t place)
{
    bool any = false;
    for (size_t n; (n = read_instruction(c, place)) > 0; place += n) {
        const char *name = name_in(c);
        if (sets_lanes(name))
            return any;
        if (leaves_block(name))
            return false;
        any |= needs_lanes(name);
    }
    return false;
}

/* Branches for the case that no lane is left stand close behind what takes lanes away. LLVM has others, which are never or always taken. */
static void
check_branches(code *c, const char *what, tally *t)
{
    int seen = 0, since = NEAR + 1;
    for (uint64_t place = 0, after; place < c->bytes; place = after) {
        size_t n = read_instruction(c, place);
        const char *name = n ? name_in(c) : "";
        after = place + (n ? n : 4);
        if (strncmp(name, "s_cbranch_execz", 15) == 0 && since <= NEAR) {
            int16_t words;
            memcpy(&words, c->at + place, sizeof words);
            seen++;
            if (is_in_vain(c, after + (uint64_t)(4 * (int64_t)words)))
                fail(t, what, "a vector instruction stands before the lanes come back that it is for");
        } else {
            since = !sets_lanes(name) ? since + (since <= NEAR) : strncmp(name, "s_or_", 5) == 0 ? NEAR + 1 : 1;
        }
    }
    if (!seen)
        fail(t, what, "no branch is there for blocks without lanes");
}

static void
check_lanes(const char *gpu, const char *what, loaded l, tally *t)
{
    const Elf64_Shdr *text = section_of(l, ".text");
    code c = {.reader = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", gpu, NULL, 0, NULL, NULL)};
    if (!c.reader || !text) {
        fail(t, what, "its code cannot be read");
        return;
    }
    c.at = (uint8_t *)l.at + text->sh_offset;
    c.bytes = text->sh_size;
    check_branches(&c, what, t);
    LLVMDisasmDispose(c.reader);
}

/* -- another linker --------------------------------------------------------------------------------------------------- */

static bool
is_section_same(loaded a, loaded b, const char *name)
{
    const Elf64_Shdr *s = section_of(a, name), *r = section_of(b, name);
    return s && r && s->sh_size == r->sh_size && memcmp(a.at + s->sh_offset, b.at + r->sh_offset, s->sh_size) == 0;
}

/* Code refers to constants by distance, and they lie elsewhere there: all but so many words of addresses is the same. */
static size_t
different_words(loaded a, loaded b)
{
    const Elf64_Shdr *s = section_of(a, ".text"), *r = section_of(b, ".text");
    size_t n = 0;
    if (!s || !r || s->sh_size != r->sh_size)
        return SIZE_MAX;
    for (size_t i = 0; i + 4 <= s->sh_size; i += 4)
        n += memcmp(a.at + s->sh_offset + i, b.at + r->sh_offset + i, 4) != 0;
    return n;
}

static size_t
relocations(void)
{
    loaded l = {given.ptr, given.len};
    const Elf64_Shdr *s = section_of(l, ".rela.text");
    return s ? s->sh_size / sizeof(Elf64_Rela) : 0;
}

static bool
are_symbols_same(loaded a, loaded b)
{
    const Elf64_Shdr *s = section_of(b, ".dynsym"), *names = section_of(b, ".dynstr"), *mine = section_of(a, ".dynsym");
    const Elf64_Sym *all = (const Elf64_Sym *)(b.at + s->sh_offset);
    for (size_t i = 1; i < s->sh_size / sizeof *all; i++) {
        const Elf64_Sym *m = symbol_of(a, b.at + names->sh_offset + all[i].st_name);
        if (!m || m->st_info != all[i].st_info || m->st_other != all[i].st_other || m->st_size != all[i].st_size)
            return false;
    }
    return mine->sh_size == s->sh_size;
}

static void
compare(const setting *s, const char *what, loaded mine, tally *t)
{
    char from[] = "/tmp/hsaco_test_XXXXXX.o", to[sizeof from];
    str command = {0}, bytes = {0};
    int file = mkstemps(from, 2);
    memcpy(to, from, sizeof to);
    memcpy(strrchr(to, '.'), ".s", 2);
    str_addf(&command, "%s -shared %s -o %s", s->lld, from, to);
    if (file < 0 || file_write(from, given.ptr, given.len) || system(command.ptr) || file_read(to, &bytes)) {
        fail(t, what, "the other linker refuses it");
    } else {
        loaded theirs = {bytes.ptr, bytes.len};
        if (!is_section_same(mine, theirs, ".note"))
            fail(t, what, "the other linker's note is another");
        if (!are_symbols_same(mine, theirs))
            fail(t, what, "the other linker's symbols are others");
        if (different_words(mine, theirs) > relocations())
            fail(t, what, "the other linker's code is another");
        t->compared++;
    }
    remove(from);
    remove(to);
    str_free(&bytes);
    str_free(&command);
}

/* -- kernels ---------------------------------------------------------------------------------------------------------- */

static void
make(const setting *s, const ir_fn *fn, const char *gpu, const char *what, tally *t)
{
    str bytes = {0};
    diag_list diags = {0};
    ll_gpu_info info;
    const char *name = "kernel";
    ll_options o = {.noalias = true, .deterministic = s->deterministic, .cpu = gpu};
    double start = clock_ms();
    rg_status status = ll_emit_hsaco_entries(&fn, &name, 1, &o, &bytes, &info, &diags);
    if (status && strstr(diags.text.ptr, "stack frame size")) { /* the GPU has no more for a thread */
        fprintf(stderr, "%s: %s", what, diags.text.ptr);
        t->refused++;
    } else if (status) {
        fail(t, what, diags.text.ptr);
    } else {
        double took = clock_ms() - start;
        loaded l = {bytes.ptr, bytes.len};
        t->longest = took > t->longest ? took : t->longest;
        check_object(fn, gpu, what, l, t);
        check_lanes(gpu, what, l, t);
        if (s->lld)
            compare(s, what, l, t);
        if (s->times)
            printf("%s: %.0f ms, %zu bytes, %d registers, %d bytes of own memory\n", what, took, bytes.len, (int)noted(l, ".vgpr_count"),
                   (int)noted(l, ".private_segment_fixed_size"));
        ll_gpu_info_free(&info);
    }
    t->made++;
    diag_free(&diags);
    str_free(&bytes);
}

static void
run_gpu(const setting *s, const ir_fn *fn, const char *path, const char *form, const char *gpu, tally *t)
{
    str what = {0};
    str_addf(&what, "%s %s %s for %s", path, fn->name, form, gpu);
    make(s, fn, gpu, what.ptr, t);
    str_free(&what);
}

static void
run_form(void *user, const ir_fn *source, rg_form form, const char *path)
{
    tally *t = user;
    const setting *s = t->setting;
    diag_list diags = {0};
    ir_fn *fn;
    int number = t->seen++ - s->first;
    if (number < 0 || number % s->every)
        return;
    uint32_t gpu = (uint32_t)(number / s->every) % s->ngpus;
    pipeline_options options = {.form = form, .contraction = true, .stage = IR_STAGE_SLOTS, .target = &target_amd};
    ir_module *m = pipeline_run(source, &options, &diags, &fn); /* some forms are refused */
    for (uint32_t i = 0; m && i < s->ngpus; i++)
        if (s->all || i == gpu)
            run_gpu(s, fn, path, pipeline_form_name(form), s->gpus[i], t);
    ir_module_free(m);
    diag_free(&diags);
}

static void
check_refused(const char *says, rg_str object, tally *t)
{
    str out = {0}, error = {0};
    if (__real_amd_link(object, &out, &error) || !error.ptr || !strstr(error.ptr, says))
        fail(t, "damaged", says);
    str_free(&error);
    str_free(&out);
}

static void
check_relocations(tally *t)
{
    static const struct { uint64_t type; const char *says; } wrong[] = {
        {3, "R_AMDGPU_ABS64"}, {7, "R_AMDGPU_GOTPCREL"}, {77, "relocation 77"}};
    str bytes = {0};
    str_add(&bytes, str_view(&given));
    loaded l = {bytes.ptr, bytes.len};
    const Elf64_Shdr *text = section_of(l, ".rela.text"), *s = text ? text : section_of(l, ".rela.rodata");
    if (!s)
        fail(t, "damaged", "the last object has no relocations to try");
    for (size_t i = 0; s && i < countof(wrong); i++) {
        Elf64_Rela *r = (Elf64_Rela *)(bytes.ptr + s->sh_offset);
        r->r_info = ELF64_R_INFO(ELF64_R_SYM(r->r_info), wrong[i].type);
        check_refused(wrong[i].says, str_view(&bytes), t);
    }
    str_free(&bytes);
}

static void
check_sections(tally *t)
{
    str bytes = {0};
    str_add(&bytes, str_view(&given));
    Elf64_Ehdr *h = (Elf64_Ehdr *)bytes.ptr;
    Elf64_Shdr *all = (Elf64_Shdr *)(bytes.ptr + h->e_shoff), *text = NULL, kept;
    for (int i = 1; i < h->e_shnum; i++)
        if (all[i].sh_flags & SHF_EXECINSTR)
            text = &all[i];
    kept = *text;
    text->sh_type = SHT_NOBITS;
    text->sh_size = (uint64_t)1 << 32;
    check_refused("larger than 4 GB", str_view(&bytes), t);
    *text = kept;
    text->sh_addralign = 1 << 20;
    check_refused("aligned as no page is", str_view(&bytes), t);
    *text = kept;
    all[h->e_shstrndx].sh_type = SHT_NOBITS;
    all[h->e_shstrndx].sh_offset = (uint64_t)1 << 40;
    check_refused("sections have no names", str_view(&bytes), t);
    str_free(&bytes);
}

/* Objects that are not what LLVM makes: each is an error. */
static void
check_damaged(tally *t)
{
    for (size_t n = 0; n < given.len; n += n < 64 ? 1 : 509)
        check_refused("", (rg_str){given.ptr, n}, t);
    check_relocations(t);
    check_sections(t);
}

int
main(int argc, char **argv)
{
    setting s = {.gpus = {"gfx942", "gfx1100"}, .ngpus = 2, .every = 1};
    tally t = {.setting = &s};
    each_kernel each = {.run = run_form, .user = &t};
    LLVMInitializeAllDisassemblers();
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(word, "--gpus") == 0) {
            s.ngpus = 0;
            for (char *name = strtok(argv[++i], ","); name && s.ngpus < GPUS_MAX; name = strtok(NULL, ","))
                s.gpus[s.ngpus++] = name;
        } else if (strcmp(word, "--every") == 0)
            s.every = atoi(value), i++;
        else if (strcmp(word, "--first") == 0)
            s.first = atoi(value), i++;
        else if (strcmp(word, "--all") == 0)
            s.all = true;
        else if (strcmp(word, "--deterministic") == 0)
            s.deterministic = true;
        else if (strcmp(word, "--lld") == 0)
            s.lld = value, i++;
        else if (strcmp(word, "--times") == 0)
            s.times = true;
        else
            each_kernel_of(&each, word);
    }
    t.failures += each.failures;
    if (given.len)
        check_damaged(&t);
    if (!s.lld)
        printf("left out: the other linker's word (ld.lld is missing)\n");
    printf("%d code objects, %d of them refused, %d compared with ld.lld, %d failures; at most %.0f ms\n", t.made, t.refused, t.compared,
           t.failures, t.longest);
    str_free(&given);
    return t.failures != 0 || !t.made;
}

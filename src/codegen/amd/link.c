/* The linker of code objects. SPDX-License-Identifier: Apache-2.0
 *
 * One relocatable file in, one shared object out, in which a place in the file is the same place in memory:
 *
 *     header, segments | .note .dynsym .hash .dynstr .rodata ...  read        | .text  run  | .data ... .dynamic  write | names, sections
 *                      a page                                     a page        a page
 *
 * All that code refers to is in the file, by its distance, so nothing is left to be relocated when it is loaded: what would be is
 * an error. Symbols that others may see are the kernels and their descriptors. */
#include "codegen/amd/link.h"

#include <elf.h>

enum { PAGE = 4096, LINE = 64, MACHINE = 224 /* AMDGPU */, SECTIONS_MAX = 1 << 12, HASH_BUCKETS = 16 };
enum { GROUP_READ, GROUP_RUN, GROUP_WRITE, GROUP_NONE, GROUPS = GROUP_NONE };
enum { OWN_DYNSYM, OWN_HASH, OWN_DYNSTR, OWN_DYNAMIC, OWN_NAMES, OWN_COUNT };

/* clang-format off */
static const char *const own_names[OWN_COUNT] = {".dynsym", ".hash", ".dynstr", ".dynamic", ".shstrtab"};
/* by number, what the format calls them; those that are applied have a width */
static const struct { const char *name; int bits; bool relative, upper; } kinds[] = {
    [0] = {"R_AMDGPU_NONE", 0, false, false},              [1] = {"R_AMDGPU_ABS32_LO", 0, false, false},
    [2] = {"R_AMDGPU_ABS32_HI", 0, false, false},          [3] = {"R_AMDGPU_ABS64", 0, false, false},
    [4] = {"R_AMDGPU_REL32", 32, true, false},             [5] = {"R_AMDGPU_REL64", 64, true, false},
    [6] = {"R_AMDGPU_ABS32", 0, false, false},             [7] = {"R_AMDGPU_GOTPCREL", 0, false, false},
    [8] = {"R_AMDGPU_GOTPCREL32_LO", 0, false, false},     [9] = {"R_AMDGPU_GOTPCREL32_HI", 0, false, false},
    [10] = {"R_AMDGPU_REL32_LO", 32, true, false},         [11] = {"R_AMDGPU_REL32_HI", 32, true, true},
    [13] = {"R_AMDGPU_RELATIVE64", 0, false, false},       [14] = {"R_AMDGPU_REL16", 0, false, false},
};
/* clang-format on */

typedef struct linked {
    rg_str in;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    uint64_t *places; /* in the output, by section; 0: it is not there */
    str *out, *error;
    const Elf64_Sym *symbols; /* of the input */
    size_t nsymbols;
    rg_str names;             /* of those */
    uint32_t *seen;           /* their numbers: what others see */
    uint32_t nseen;
    uint64_t own[OWN_COUNT], sizes[OWN_COUNT];
    uint64_t from[GROUPS], to[GROUPS];
} linked;

static bool
cannot(linked *l, const char *what)
{
    str_addf(l->error, "an object of LLVM's cannot be linked: %s", what);
    return false;
}

/* -- the input ----------------------------------------------------------------------------------------------------- */

static bool
is_in_file(const linked *l, uint64_t at, uint64_t bytes)
{
    return at <= l->in.len && bytes <= l->in.len - at;
}

static const char *
name_at(rg_str names, uint64_t at)
{
    return at < names.len && memchr(names.ptr + at, 0, names.len - at) ? names.ptr + at : "";
}

static rg_str
section_bytes(const linked *l, uint32_t section)
{
    const Elf64_Shdr *s = &l->sections[section];
    return (rg_str){l->in.ptr + s->sh_offset, s->sh_size};
}

static bool
read_symbols(linked *l)
{
    for (uint32_t i = 0; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type != SHT_NOBITS && !is_in_file(l, s->sh_offset, s->sh_size))
            return cannot(l, "a section is cut off");
        if (s->sh_type != SHT_SYMTAB)
            continue;
        if (s->sh_link >= l->header->e_shnum || !is_in_file(l, l->sections[s->sh_link].sh_offset, l->sections[s->sh_link].sh_size) ||
            s->sh_offset % 8)
            return cannot(l, "its symbols are damaged");
        l->symbols = (const Elf64_Sym *)(l->in.ptr + s->sh_offset);
        l->nsymbols = s->sh_size / sizeof(Elf64_Sym);
        l->names = section_bytes(l, s->sh_link);
    }
    return l->symbols ? true : cannot(l, "it has no symbols");
}

static bool
read_header(linked *l)
{
    const Elf64_Ehdr *h = l->header = (const Elf64_Ehdr *)l->in.ptr;
    if (l->in.len < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL || h->e_machine != MACHINE)
        return cannot(l, "it is no relocatable file for AMD's GPUs");
    if (!h->e_shnum || h->e_shnum > SECTIONS_MAX || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 ||
        !is_in_file(l, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr)) || h->e_shstrndx >= h->e_shnum)
        return cannot(l, "its sections are damaged");
    l->sections = (const Elf64_Shdr *)(l->in.ptr + h->e_shoff);
    const Elf64_Shdr *names = &l->sections[h->e_shstrndx];
    if (names->sh_type == SHT_NOBITS || !is_in_file(l, names->sh_offset, names->sh_size))
        return cannot(l, "its sections have no names");
    return read_symbols(l);
}

/* -- what goes where ----------------------------------------------------------------------------------------------- */

static int
group_of(const Elf64_Shdr *s)
{
    if (!(s->sh_flags & SHF_ALLOC))
        return GROUP_NONE;
    return s->sh_flags & SHF_EXECINSTR ? GROUP_RUN : s->sh_flags & SHF_WRITE ? GROUP_WRITE : GROUP_READ;
}

static void
pad_to(linked *l, uint64_t align)
{
    while (align > 1 && l->out->len % align)
        str_addc(l->out, 0);
}

static void
add_zeros(linked *l, uint64_t bytes)
{
    while (bytes--)
        str_addc(l->out, 0);
}

/* Notes stand first, in memory and among sections. */
static bool
add_sections(linked *l, int group, bool notes)
{
    for (uint32_t i = 1; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (group_of(s) != group || (s->sh_type == SHT_NOTE) != notes)
            continue;
        if (s->sh_addralign > PAGE || (s->sh_addralign & (s->sh_addralign - 1)))
            return cannot(l, "a section is aligned as no page is");
        if (s->sh_size > UINT32_MAX)
            return cannot(l, "a section is larger than 4 GB");
        pad_to(l, s->sh_addralign);
        l->places[i] = l->out->len;
        if (s->sh_type == SHT_NOBITS)
            add_zeros(l, s->sh_size);
        else
            str_add(l->out, section_bytes(l, i));
    }
    return true;
}

static void
find_seen(linked *l)
{
    for (size_t i = 1; i < l->nsymbols; i++) {
        const Elf64_Sym *s = &l->symbols[i];
        int visibility = ELF64_ST_VISIBILITY(s->st_other);
        if (ELF64_ST_BIND(s->st_info) != STB_LOCAL && visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
            s->st_shndx != SHN_UNDEF && s->st_shndx < l->header->e_shnum)
            l->seen[l->nseen++] = (uint32_t)i;
    }
}

/* SysV's */
static uint32_t
sysv_hash(const char *name)
{
    uint32_t h = 0;
    for (; *name; name++) {
        h = (h << 4) + (unsigned char)*name;
        h = (h ^ (h >> 28 << 4)) & 0x0fffffff;
    }
    return h;
}

static void
add_hash(linked *l)
{
    uint32_t n = l->nseen + 1, buckets[HASH_BUCKETS] = {0}, head[2] = {HASH_BUCKETS, n};
    uint32_t *chain = arena_new_n(mem_scratch(), uint32_t, n);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t b = sysv_hash(name_at(l->names, l->symbols[l->seen[i - 1]].st_name)) % HASH_BUCKETS;
        chain[i] = buckets[b];
        buckets[b] = i;
    }
    str_add(l->out, (rg_str){(const char *)head, sizeof head});
    str_add(l->out, (rg_str){(const char *)buckets, sizeof buckets});
    str_add(l->out, (rg_str){(const char *)chain, n * sizeof *chain});
}

static void
begin_own(linked *l, int which, uint64_t align)
{
    pad_to(l, align);
    l->own[which] = l->out->len;
}

static void
end_own(linked *l, int which)
{
    l->sizes[which] = l->out->len - l->own[which];
}

/* Symbols get their values when all sections have their places. */
static void
add_symbols(linked *l)
{
    begin_own(l, OWN_DYNSYM, 8);
    add_zeros(l, (l->nseen + 1) * sizeof(Elf64_Sym));
    end_own(l, OWN_DYNSYM);
    begin_own(l, OWN_HASH, 4);
    add_hash(l);
    end_own(l, OWN_HASH);
    begin_own(l, OWN_DYNSTR, 1);
    str_addc(l->out, 0);
    for (uint32_t i = 0; i < l->nseen; i++) {
        str_addz(l->out, name_at(l->names, l->symbols[l->seen[i]].st_name));
        str_addc(l->out, 0);
    }
    end_own(l, OWN_DYNSTR);
}

static void
add_dynamic(linked *l)
{
    const Elf64_Dyn entries[] = {
        {DT_HASH, {l->own[OWN_HASH]}},       {DT_SYMTAB, {l->own[OWN_DYNSYM]}}, {DT_SYMENT, {sizeof(Elf64_Sym)}},
        {DT_STRTAB, {l->own[OWN_DYNSTR]}},   {DT_STRSZ, {l->sizes[OWN_DYNSTR]}}, {DT_NULL, {0}},
    };
    begin_own(l, OWN_DYNAMIC, 8);
    str_add(l->out, (rg_str){(const char *)entries, sizeof entries});
    end_own(l, OWN_DYNAMIC);
}

static bool
add_group(linked *l, int group)
{
    pad_to(l, PAGE);
    l->from[group] = group == GROUP_READ ? 0 : l->out->len;
    if (group == GROUP_READ)
        add_zeros(l, sizeof(Elf64_Ehdr) + (GROUPS + 3) * sizeof(Elf64_Phdr));
    if (!add_sections(l, group, true))
        return false;
    if (group == GROUP_READ)
        add_symbols(l);
    if (!add_sections(l, group, false))
        return false;
    if (group == GROUP_WRITE)
        add_dynamic(l);
    l->to[group] = l->out->len;
    return true;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

/* false: it is not in the file */
static bool
place_of_symbol(const linked *l, const Elf64_Sym *s, uint64_t *value)
{
    if (s->st_shndx == SHN_UNDEF || s->st_shndx >= l->header->e_shnum || !l->places[s->st_shndx])
        return false;
    *value = l->places[s->st_shndx] + s->st_value;
    return true;
}

static void
set_symbols(linked *l)
{
    Elf64_Sym *to = (Elf64_Sym *)(l->out->ptr + l->own[OWN_DYNSYM]);
    uint32_t name = 1;
    for (uint32_t i = 0; i < l->nseen; i++) {
        const Elf64_Sym *s = &l->symbols[l->seen[i]];
        to[i + 1] = *s;
        to[i + 1].st_name = name;
        (void)place_of_symbol(l, s, &to[i + 1].st_value);
        name += (uint32_t)strlen(name_at(l->names, s->st_name)) + 1;
    }
}

static bool
apply(linked *l, const Elf64_Shdr *section, uint64_t place, const Elf64_Rela *r)
{
    uint64_t type = ELF64_R_TYPE(r->r_info), symbol = ELF64_R_SYM(r->r_info), value;
    char number[32];
    if (!type)
        return true;
    snprintf(number, sizeof number, "relocation %u", (unsigned)type);
    if (type >= countof(kinds) || !kinds[type].bits)
        return cannot(l, type < countof(kinds) && kinds[type].name ? kinds[type].name : number);
    size_t bytes = (size_t)kinds[type].bits / 8;
    if (symbol >= l->nsymbols || r->r_offset > section->sh_size || bytes > section->sh_size - r->r_offset)
        return cannot(l, "a relocation is damaged");
    if (!place_of_symbol(l, &l->symbols[symbol], &value)) {
        str_addf(l->error, "there is no %s on the GPU", name_at(l->names, l->symbols[symbol].st_name));
        return false;
    }
    uint64_t at = place + r->r_offset, distance = value + (uint64_t)r->r_addend - at;
    distance = kinds[type].upper ? distance >> 32 : distance;
    if (type == 4 && (int64_t)distance != (int32_t)distance)
        return cannot(l, "it is too long");
    memcpy(l->out->ptr + at, &distance, bytes);
    return true;
}

static bool
apply_all(linked *l)
{
    for (uint32_t i = 1; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (s->sh_type == SHT_REL)
            return cannot(l, "a section of relocations without addends");
        if (s->sh_type != SHT_RELA || s->sh_info >= l->header->e_shnum || !l->places[s->sh_info])
            continue;
        if (s->sh_offset % 8 || l->sections[s->sh_info].sh_type == SHT_NOBITS)
            return cannot(l, "a relocation is damaged");
        const Elf64_Rela *r = (const Elf64_Rela *)(l->in.ptr + s->sh_offset);
        for (size_t k = 0; k < s->sh_size / sizeof *r; k++)
            if (!apply(l, &l->sections[s->sh_info], l->places[s->sh_info], &r[k]))
                return false;
    }
    return true;
}

/* -- tables of the output ------------------------------------------------------------------------------------------ */

typedef struct tables {
    Elf64_Shdr *sections;
    uint32_t n;
    str names;
} tables;

static Elf64_Shdr *
new_section(tables *t, const char *name, uint32_t type, uint64_t flags, uint64_t at, uint64_t size, uint64_t align)
{
    t->sections[t->n] = (Elf64_Shdr){.sh_name = (uint32_t)t->names.len, .sh_type = type, .sh_flags = flags, .sh_addr = flags ? at : 0,
                                     .sh_offset = at, .sh_size = size, .sh_addralign = align};
    str_addz(&t->names, name);
    str_addc(&t->names, 0);
    return &t->sections[t->n++];
}

/* Numbers of sections in the output are those of this order: the input's with places, then ours. */
static void
list_sections(linked *l, tables *t, uint32_t *numbers)
{
    rg_str names = section_bytes(l, l->header->e_shstrndx);
    new_section(t, "", SHT_NULL, 0, 0, 0, 0);
    for (uint32_t i = 1; i < l->header->e_shnum; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        if (!l->places[i])
            continue;
        numbers[i] = t->n;
        new_section(t, name_at(names, s->sh_name), s->sh_type == SHT_NOBITS ? SHT_PROGBITS : s->sh_type,
                    s->sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR), l->places[i], s->sh_size, s->sh_addralign);
    }
    uint32_t symbols = t->n, strings = t->n + 2;
    Elf64_Shdr *made = new_section(t, own_names[OWN_DYNSYM], SHT_DYNSYM, SHF_ALLOC, l->own[OWN_DYNSYM], l->sizes[OWN_DYNSYM], 8);
    made->sh_link = strings;
    made->sh_info = 1;
    made->sh_entsize = sizeof(Elf64_Sym);
    made = new_section(t, own_names[OWN_HASH], SHT_HASH, SHF_ALLOC, l->own[OWN_HASH], l->sizes[OWN_HASH], 4);
    made->sh_link = symbols;
    made->sh_entsize = sizeof(uint32_t);
    new_section(t, own_names[OWN_DYNSTR], SHT_STRTAB, SHF_ALLOC, l->own[OWN_DYNSTR], l->sizes[OWN_DYNSTR], 1);
    made = new_section(t, own_names[OWN_DYNAMIC], SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, l->own[OWN_DYNAMIC], l->sizes[OWN_DYNAMIC], 8);
    made->sh_link = strings;
    made->sh_entsize = sizeof(Elf64_Dyn);
    made = new_section(t, own_names[OWN_NAMES], SHT_STRTAB, 0, l->out->len, 0, 1);
    made->sh_size = t->names.len;
    str_add(l->out, str_view(&t->names));
}

static void
number_symbols(linked *l, const uint32_t *numbers)
{
    Elf64_Sym *to = (Elf64_Sym *)(l->out->ptr + l->own[OWN_DYNSYM]);
    for (uint32_t i = 0; i < l->nseen; i++)
        to[i + 1].st_shndx = (uint16_t)numbers[l->symbols[l->seen[i]].st_shndx];
}

static Elf64_Phdr
segment(uint32_t type, uint32_t flags, uint64_t at, uint64_t size, uint64_t align)
{
    return (Elf64_Phdr){type, flags, at, at, at, size, size, align};
}

static void
set_header(linked *l, const tables *t, uint64_t sections)
{
    static const uint32_t flags[GROUPS] = {PF_R, PF_R | PF_X, PF_R | PF_W};
    Elf64_Phdr made[GROUPS + 3] = {segment(PT_PHDR, PF_R, sizeof(Elf64_Ehdr), sizeof made, 8)};
    Elf64_Ehdr h = *l->header;
    uint16_t n = 1;
    for (int g = 0; g < GROUPS; g++)
        if (l->to[g] > l->from[g])
            made[n++] = segment(PT_LOAD, flags[g], l->from[g], l->to[g] - l->from[g], PAGE);
    made[n++] = segment(PT_DYNAMIC, PF_R | PF_W, l->own[OWN_DYNAMIC], l->sizes[OWN_DYNAMIC], 8);
    for (uint32_t i = 1; i < t->n && n < countof(made); i++)
        if (t->sections[i].sh_type == SHT_NOTE)
            made[n++] = segment(PT_NOTE, PF_R, t->sections[i].sh_offset, t->sections[i].sh_size, 4);
    made[0].p_filesz = made[0].p_memsz = n * sizeof(Elf64_Phdr);
    h.e_type = ET_DYN;
    h.e_entry = 0;
    h.e_phoff = sizeof h;
    h.e_phentsize = sizeof(Elf64_Phdr);
    h.e_phnum = n;
    h.e_shoff = sections;
    h.e_shnum = (uint16_t)t->n;
    h.e_shstrndx = (uint16_t)(t->n - 1);
    memcpy(l->out->ptr, &h, sizeof h);
    memcpy(l->out->ptr + sizeof h, made, sizeof made);
}

static void
add_tables(linked *l)
{
    uint32_t most = l->header->e_shnum + OWN_COUNT + 1u;
    tables t = {.sections = arena_new_n(mem_scratch(), Elf64_Shdr, most), .names.in = mem_scratch()};
    uint32_t *numbers = arena_new_n(mem_scratch(), uint32_t, l->header->e_shnum);
    list_sections(l, &t, numbers);
    number_symbols(l, numbers);
    pad_to(l, 8);
    uint64_t sections = l->out->len;
    str_add(l->out, (rg_str){(const char *)t.sections, t.n * sizeof(Elf64_Shdr)});
    set_header(l, &t, sections);
}

bool
amd_link(rg_str object, str *out, str *error)
{
    linked l = {.in = object, .out = out, .error = error};
    if (!read_header(&l))
        return false;
    l.places = arena_new_n(mem_scratch(), uint64_t, l.header->e_shnum);
    l.seen = arena_new_n(mem_scratch(), uint32_t, l.nsymbols + 1);
    find_seen(&l);
    bool ok = true;
    for (int g = 0; ok && g < GROUPS; g++)
        ok = add_group(&l, g);
    if (ok)
        set_symbols(&l);
    ok = ok && apply_all(&l);
    if (ok)
        add_tables(&l);
    return ok;
}

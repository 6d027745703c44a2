/* Relocatable objects brought into memory, ready to run. SPDX-License-Identifier: Apache-2.0
 *
 * One mapping holds the sections that take memory, in three parts that each begin a page: what runs, what is read, what is
 * written. Behind the code stand stubs, jumps to functions outside that a call does not reach; a call that does reach
 * its function goes there itself. */
#include "rt/load/object.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STUB_BYTES = 16, PARTS = 3 };
enum { PART_RUN, PART_READ, PART_WRITE };
static const uint64_t most_bytes = 1 << 30; /* in memory: so that 32 bits hold any distance inside */

#if defined(__aarch64__)
enum { THIS_MACHINE = EM_AARCH64 };
#elif defined(__x86_64__)
enum { THIS_MACHINE = EM_X86_64 };
#else
enum { THIS_MACHINE = EM_NONE };
#endif

struct rt_object {
    unsigned char *memory;
    size_t size;
    void *entry;
};

/* A section of the object; `place` is where it is in memory, if it takes any. */
typedef struct section {
    Elf64_Shdr head;
    bool loaded;
    uint64_t place; /* from the beginning of the mapping */
} section;

typedef struct loader {
    rg_str bytes;
    uint16_t machine;
    rt_object_find *find;
    str *error;
    section *sections;
    uint32_t nsections, nsymbols;
    const section *symbols, *names;
    uint64_t *found; /* by symbol: the address of a function outside; 0: nobody has asked yet */
    uint64_t *stubs; /* by symbol: where its stub begins; 0: it has none yet */
    uint64_t next_stub, page, begin[PARTS + 1]; /* of parts; the last: the end */
    unsigned char *memory;
} loader;

static bool
refuse(loader *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    str_addv(l->error, format, args);
    va_end(args);
    return false;
}

/* -- reading ------------------------------------------------------------------------------------------------------- */

static bool
lies_inside(uint64_t at, uint64_t n, uint64_t size)
{
    return at <= size && n <= size - at;
}

static bool
read_head(loader *l, Elf64_Ehdr *head)
{
    if (l->bytes.len < sizeof *head)
        return refuse(l, "this is no object: it is too short");
    memcpy(head, l->bytes.ptr, sizeof *head);
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_ident[EI_DATA] != ELFDATA2LSB || head->e_type != ET_REL)
        return refuse(l, "this is no object of 64-bit code");
    if (head->e_machine != l->machine)
        return refuse(l, "an object for another machine (%u)", head->e_machine);
    if (head->e_shentsize != sizeof(Elf64_Shdr) || !head->e_shnum ||
        !lies_inside(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr), l->bytes.len))
        return refuse(l, "the object's sections are damaged");
    return true;
}

static bool
read_section(loader *l, uint32_t i)
{
    const Elf64_Shdr *h = &l->sections[i].head;
    if (h->sh_type == SHT_NULL)
        return true;
    if (h->sh_type != SHT_NOBITS && !lies_inside(h->sh_offset, h->sh_size, l->bytes.len))
        return refuse(l, "section %u leaves the object", i);
    if (h->sh_type == SHT_SYMTAB) {
        if (l->symbols || h->sh_entsize != sizeof(Elf64_Sym) || h->sh_link >= l->nsections)
            return refuse(l, "the object's symbols are damaged");
        l->symbols = &l->sections[i];
        l->nsymbols = (uint32_t)(h->sh_size / sizeof(Elf64_Sym));
        l->names = &l->sections[h->sh_link];
    }
    if (!(h->sh_flags & SHF_ALLOC))
        return true;
    if (h->sh_flags & SHF_TLS || h->sh_addralign > l->page || (h->sh_addralign & (h->sh_addralign - 1)) ||
        h->sh_size > most_bytes)
        return refuse(l, "section %u cannot be loaded", i);
    l->sections[i].loaded = h->sh_size > 0;
    return true;
}

static bool
read_sections(loader *l)
{
    Elf64_Ehdr head;
    if (!read_head(l, &head))
        return false;
    l->nsections = head.e_shnum;
    l->sections = arena_new_n(mem_scratch(), section, l->nsections);
    for (uint32_t i = 0; i < l->nsections; i++)
        memcpy(&l->sections[i].head, l->bytes.ptr + head.e_shoff + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
    for (uint32_t i = 0; i < l->nsections; i++)
        if (!read_section(l, i))
            return false;
    if (!l->symbols)
        return refuse(l, "the object has no symbols");
    /* then every name ends inside */
    const Elf64_Shdr *names = &l->names->head;
    if (names->sh_type != SHT_STRTAB || !names->sh_size || l->bytes.ptr[names->sh_offset + names->sh_size - 1])
        return refuse(l, "the object's names are damaged");
    return true;
}

static bool
read_symbol(loader *l, uint32_t number, Elf64_Sym *symbol, const char **name)
{
    if (number >= l->nsymbols)
        return refuse(l, "the object has no symbol %u", number);
    memcpy(symbol, l->bytes.ptr + l->symbols->head.sh_offset + number * sizeof *symbol, sizeof *symbol);
    if (symbol->st_name >= l->names->head.sh_size)
        return refuse(l, "symbol %u has no name", number);
    *name = l->bytes.ptr + l->names->head.sh_offset + symbol->st_name;
    return true;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

static int
mapped_part(const Elf64_Shdr *h)
{
    return h->sh_flags & SHF_EXECINSTR ? PART_RUN : h->sh_flags & SHF_WRITE ? PART_WRITE : PART_READ;
}

static uint64_t
aligned(uint64_t at, uint64_t to)
{
    return to > 1 ? (at + to - 1) & ~(to - 1) : at;
}

static bool
lay_out(loader *l)
{
    uint64_t at = 0;
    for (int part = 0; part < PARTS; part++) {
        l->begin[part] = at;
        for (uint32_t i = 0; i < l->nsections; i++) {
            section *s = &l->sections[i];
            if (!s->loaded || mapped_part(&s->head) != part)
                continue;
            s->place = aligned(at, s->head.sh_addralign);
            at = s->place + s->head.sh_size;
            if (at > most_bytes)
                return refuse(l, "the object is too large");
        }
        if (part == PART_RUN) {
            l->next_stub = aligned(at, STUB_BYTES);
            at = l->next_stub + (uint64_t)l->nsymbols * STUB_BYTES;
        }
        at = aligned(at, l->page);
    }
    l->begin[PARTS] = at;
    return at <= most_bytes || refuse(l, "the object is too large");
}

static bool
fill_memory(loader *l, rt_object *object)
{
    void *memory = mmap(NULL, l->begin[PARTS], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return refuse(l, "out of memory: %llu bytes for code", (unsigned long long)l->begin[PARTS]);
    object->memory = l->memory = memory;
    object->size = l->begin[PARTS];
    for (uint32_t i = 0; i < l->nsections; i++) {
        const section *s = &l->sections[i];
        if (s->loaded && s->head.sh_type != SHT_NOBITS)
            memcpy(l->memory + s->place, l->bytes.ptr + s->head.sh_offset, s->head.sh_size);
    }
    return true;
}

static bool
protect_memory(loader *l)
{
    static const int may[PARTS] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int part = 0; part < PARTS; part++) {
        uint64_t size = l->begin[part + 1] - l->begin[part];
        if (size && mprotect(l->memory + l->begin[part], size, may[part]))
            return refuse(l, "this process may not make code executable");
    }
    __builtin___clear_cache((char *)l->memory, (char *)l->memory + l->begin[PART_RUN + 1]);
    return true;
}

/* -- what references mean ------------------------------------------------------------------------------------------ */

/* A place that a relocation changes, and what stands there then: the address of a symbol, plus a number. */
typedef struct reference {
    uint32_t type, symbol;
    unsigned char *place;
    uint64_t room;   /* bytes of the section from there on */
    uint64_t target; /* with the addend */
    uint64_t inside; /* without: of a function of others, which a stub may stand for; else 0 */
    int64_t addend;
    const char *name;
} reference;

static bool
is_outside(const Elf64_Sym *symbol)
{
    return symbol->st_shndx == SHN_UNDEF;
}

static bool
address_of(loader *l, uint32_t number, const Elf64_Sym *symbol, const char *name, uint64_t *address)
{
    if (is_outside(symbol)) {
        if (!l->found[number])
            l->found[number] = (uint64_t)(uintptr_t)l->find(name);
        *address = l->found[number];
        return *address || refuse(l, "there is no function `%s`", name);
    }
    const section *s = symbol->st_shndx < l->nsections ? &l->sections[symbol->st_shndx] : NULL;
    if (!s || !s->loaded || symbol->st_value > s->head.sh_size || ELF64_ST_TYPE(symbol->st_info) == STT_TLS)
        return refuse(l, "symbol `%s` is not in memory", name);
    *address = (uint64_t)(uintptr_t)l->memory + s->place + symbol->st_value;
    return true;
}

static uint64_t
stub_of(loader *l, const reference *r)
{
    static const unsigned char jump_x86[] = {0xff, 0x25, 2, 0, 0, 0, 0, 0};                /* jmp *2(%rip) */
    static const unsigned char jump_arm[] = {0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6};       /* ldr x16, 8; br x16 */
    if (!l->stubs[r->symbol]) {
        unsigned char *at = l->memory + l->next_stub;
        memcpy(at, l->machine == EM_AARCH64 ? jump_arm : jump_x86, 8);
        memcpy(at + 8, &r->inside, 8);
        l->stubs[r->symbol] = l->next_stub;
        l->next_stub += STUB_BYTES;
    }
    return (uint64_t)(uintptr_t)l->memory + l->stubs[r->symbol];
}

static int64_t
distance_to(const reference *r, uint64_t target)
{
    return (int64_t)(target - (uint64_t)(uintptr_t)r->place);
}

/* within n bits, signed */
static bool
reaches(int64_t far, int bits)
{
    return far >= -((int64_t)1 << (bits - 1)) && far < (int64_t)1 << (bits - 1);
}

static bool
too_far(loader *l, const reference *r)
{
    return refuse(l, "relocation %u: `%s` is too far away", r->type, r->name);
}

static bool
has_room(loader *l, const reference *r, uint64_t bytes)
{
    return r->room >= bytes || refuse(l, "relocation %u leaves its section", r->type);
}

static bool
put_word(loader *l, const reference *r, int64_t value)
{
    int32_t word = (int32_t)value;
    if (!reaches(value, 32))
        return too_far(l, r);
    memcpy(r->place, &word, 4);
    return true;
}

static bool
relocate_x86(loader *l, const reference *r)
{
    switch (r->type) {
    case R_X86_64_64:
        if (!has_room(l, r, 8))
            return false;
        memcpy(r->place, &r->target, 8);
        return true;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        if (!has_room(l, r, 4))
            return false;
        if (r->inside && !reaches(distance_to(r, r->target), 32))
            return put_word(l, r, distance_to(r, stub_of(l, r) + (uint64_t)r->addend));
        return put_word(l, r, distance_to(r, r->target));
    }
    return refuse(l, "relocation %u is not known", r->type);
}

/* bits `low` and up of an instruction, n of them */
static void
put_bits(const reference *r, unsigned low, unsigned n, uint64_t value)
{
    uint32_t word, mask = (((uint32_t)1 << n) - 1) << low;
    memcpy(&word, r->place, 4);
    word = (word & ~mask) | ((uint32_t)(value << low) & mask);
    memcpy(r->place, &word, 4);
}

static bool
put_low_bits(loader *l, const reference *r, unsigned shift)
{
    uint64_t low = r->target & 0xfff;
    if (low & (((uint64_t)1 << shift) - 1))
        return refuse(l, "relocation %u: `%s` is not aligned", r->type, r->name);
    put_bits(r, 10, 12, low >> shift);
    return true;
}

static bool
relocate_arm(loader *l, const reference *r)
{
    int64_t far;
    if (!has_room(l, r, r->type == R_AARCH64_ABS64 ? 8 : 4))
        return false;
    switch (r->type) {
    case R_AARCH64_ABS64:
        memcpy(r->place, &r->target, 8);
        return true;
    case R_AARCH64_PREL32:
        return put_word(l, r, distance_to(r, r->target));
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        far = distance_to(r, r->target);
        if (r->inside && !reaches(far, 28))
            far = distance_to(r, stub_of(l, r) + (uint64_t)r->addend);
        if (!reaches(far, 28) || far & 3)
            return too_far(l, r);
        put_bits(r, 0, 26, (uint64_t)far >> 2);
        return true;
    case R_AARCH64_ADR_PREL_PG_HI21:
        far = (int64_t)((r->target & ~(uint64_t)0xfff) - ((uint64_t)(uintptr_t)r->place & ~(uint64_t)0xfff));
        if (!reaches(far, 33))
            return too_far(l, r);
        put_bits(r, 29, 2, (uint64_t)far >> 12);
        put_bits(r, 5, 19, (uint64_t)far >> 14);
        return true;
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        return put_low_bits(l, r, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC:
        return put_low_bits(l, r, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC:
        return put_low_bits(l, r, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
        return put_low_bits(l, r, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC:
        return put_low_bits(l, r, 4);
    }
    return refuse(l, "relocation %u is not known", r->type);
}

static bool
relocate(loader *l, const section *s, const Elf64_Rela *from)
{
    reference r = {.type = (uint32_t)from->r_info, .symbol = (uint32_t)(from->r_info >> 32), .addend = from->r_addend};
    Elf64_Sym symbol;
    uint64_t address;
    if (from->r_offset >= s->head.sh_size)
        return refuse(l, "relocation %u leaves its section", r.type);
    if (!read_symbol(l, r.symbol, &symbol, &r.name) || !address_of(l, r.symbol, &symbol, r.name, &address))
        return false;
    r.place = l->memory + s->place + from->r_offset;
    r.room = s->head.sh_size - from->r_offset;
    r.target = address + (uint64_t)r.addend;
    r.inside = is_outside(&symbol) ? address : 0;
    return l->machine == EM_AARCH64 ? relocate_arm(l, &r) : relocate_x86(l, &r);
}

static bool
relocate_all(loader *l)
{
    l->found = arena_new_n(mem_scratch(), uint64_t, l->nsymbols + 1);
    l->stubs = arena_new_n(mem_scratch(), uint64_t, l->nsymbols + 1);
    for (uint32_t i = 0; i < l->nsections; i++) {
        const Elf64_Shdr *h = &l->sections[i].head;
        if ((h->sh_type != SHT_RELA && h->sh_type != SHT_REL) || h->sh_info >= l->nsections ||
            !l->sections[h->sh_info].loaded)
            continue;
        if (h->sh_type == SHT_REL || h->sh_entsize != sizeof(Elf64_Rela))
            return refuse(l, "relocations of another kind");
        for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= h->sh_size; at += sizeof(Elf64_Rela)) {
            Elf64_Rela one;
            memcpy(&one, l->bytes.ptr + h->sh_offset + at, sizeof one);
            if (!relocate(l, &l->sections[h->sh_info], &one))
                return false;
        }
    }
    return true;
}

/* -- all together -------------------------------------------------------------------------------------------------- */

static bool
find_entry(loader *l, const char *entry, void **address)
{
    for (uint32_t i = 0; i < l->nsymbols; i++) {
        Elf64_Sym symbol;
        const char *name;
        uint64_t at;
        if (!read_symbol(l, i, &symbol, &name))
            return false;
        if (is_outside(&symbol) || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || strcmp(name, entry) != 0)
            continue;
        if (!address_of(l, i, &symbol, name, &at))
            return false;
        const section *s = &l->sections[symbol.st_shndx];
        *address = (void *)(uintptr_t)at;
        return (mapped_part(&s->head) == PART_RUN && symbol.st_value < s->head.sh_size) || refuse(l, "`%s` is no function", entry);
    }
    return refuse(l, "the object has no function `%s`", entry);
}

static void
release_object(void *object)
{
    rt_object_free(object);
}

rt_object *
rt_object_load_for(uint16_t machine, rg_str bytes, const char *entry, rt_object_find *find, str *error)
{
    loader l = {.bytes = bytes, .machine = machine, .find = find, .error = error, .page = (uint64_t)sysconf(_SC_PAGESIZE)};
    rt_object *object = mem_zalloc(sizeof *object);
    mem_owner owns;
    mem_own(&owns, release_object, object);
    bool loaded = read_sections(&l) && lay_out(&l) && fill_memory(&l, object) && relocate_all(&l) &&
                  find_entry(&l, entry, &object->entry) && protect_memory(&l);
    mem_disown(&owns);
    if (loaded)
        return object;
    rt_object_free(object);
    return NULL;
}

rt_object *
rt_object_load(rg_str bytes, const char *entry, rt_object_find *find, str *error)
{
    return rt_object_load_for(THIS_MACHINE, bytes, entry, find, error);
}

void *
rt_object_entry(const rt_object *object)
{
    return object->entry;
}

void
rt_object_free(rt_object *object)
{
    if (!object)
        return;
    if (object->memory)
        munmap(object->memory, object->size);
    mem_free(object);
}

/* Objects of machine code, as the cache keeps them, with damage that knows what an object is made of. SPDX-License-Identifier: Apache-2.0
 *
 * Nothing of them is run: a hash says whether their instructions are the ones that were made. Every number beside those is
 * to be refused or to be harmless. */
#include "codegen/llvm/code.h"
#include "fuzz.h"
#include "rt/load/object.h"

#include <elf.h>

/* -- damage -------------------------------------------------------------------------------------- */

typedef struct victim {
    uint8_t *at;
    size_t size, most;
    uint64_t random;
    Elf64_Ehdr head; /* as it was found */
} victim;

static uint64_t
draw(victim *v, uint64_t below)
{
    v->random = v->random * 6364136223846793005u + 1442695040888963407u;
    return below ? (v->random >> 24) % below : 0;
}

/* Numbers at which checks fail: ends, sizes, wrapped sums, and what is right elsewhere in the file. */
static uint64_t
any_number(victim *v, uint64_t old)
{
    static const uint64_t edges[] = {0, 1, 2, 3, 4, 8, 15, 16, 24, 63, 64, 0xff, 0xfff, 0x1000, 0x1001, 0xfff1, 0xffff, 0x7fffffff,
                                     0x80000000, 0xffffffff, (uint64_t)1 << 30, ((uint64_t)1 << 30) + 1, (uint64_t)1 << 40,
                                     (uint64_t)1 << 63, UINT64_MAX / 2, UINT64_MAX - 7, UINT64_MAX - 4096, UINT64_MAX};
    switch (draw(v, 6)) {
    case 0: return old + draw(v, 17) - 8;
    case 1: return old ^ (uint64_t)1 << draw(v, 64);
    case 2: return v->size - draw(v, 32);
    case 3: return draw(v, v->size + 1);
    case 4: return UINT64_MAX - old + draw(v, 3);
    default: return edges[draw(v, countof(edges))];
    }
}

/* A field of n bytes, if it is inside. */
static void
change_field(victim *v, uint64_t at, size_t n)
{
    uint64_t number = 0;
    if (at > v->size || n > v->size - at)
        return;
    memcpy(&number, v->at + at, n);
    number = any_number(v, number);
    memcpy(v->at + at, &number, n);
}

#define CHANGE(v, at, type, field) change_field((v), (at) + offsetof(type, field), sizeof(((type *)0)->field))

static void
change_head(victim *v)
{
    switch (draw(v, 6)) {
    case 0: CHANGE(v, 0, Elf64_Ehdr, e_shoff); break;
    case 1: CHANGE(v, 0, Elf64_Ehdr, e_shnum); break;
    case 2: CHANGE(v, 0, Elf64_Ehdr, e_shentsize); break;
    case 3: CHANGE(v, 0, Elf64_Ehdr, e_type); break;
    case 4: CHANGE(v, 0, Elf64_Ehdr, e_machine); break;
    default: v->at[draw(v, EI_NIDENT)] ^= (uint8_t)(1u << draw(v, 8)); break;
    }
}

/* Where the head of a section is; false: the file has none there. */
static bool
find_head(const victim *v, uint64_t number, uint64_t *at)
{
    uint64_t end;
    return number < v->head.e_shnum && !__builtin_add_overflow(v->head.e_shoff, number * sizeof(Elf64_Shdr), at) &&
           !__builtin_add_overflow(*at, sizeof(Elf64_Shdr), &end) && end <= v->size;
}

static void
change_section(victim *v)
{
    uint64_t at, other;
    uint8_t head[sizeof(Elf64_Shdr)];
    if (!find_head(v, draw(v, v->head.e_shnum), &at) || !find_head(v, draw(v, v->head.e_shnum), &other))
        return;
    switch (draw(v, 12)) {
    case 0: CHANGE(v, at, Elf64_Shdr, sh_type); break;
    case 1: CHANGE(v, at, Elf64_Shdr, sh_flags); break;
    case 2: CHANGE(v, at, Elf64_Shdr, sh_offset); break;
    case 3: CHANGE(v, at, Elf64_Shdr, sh_size); break;
    case 4: CHANGE(v, at, Elf64_Shdr, sh_link); break;
    case 5: CHANGE(v, at, Elf64_Shdr, sh_info); break;
    case 6: CHANGE(v, at, Elf64_Shdr, sh_addralign); break;
    case 7: CHANGE(v, at, Elf64_Shdr, sh_entsize); break;
    case 8: v->at[at + offsetof(Elf64_Shdr, sh_flags)] ^= (uint8_t)(1u << draw(v, 3)); break; /* write, alloc, run */
    case 9: v->at[at + offsetof(Elf64_Shdr, sh_type)] = (uint8_t)draw(v, 12); break;
    case 10: memmove(v->at + at, v->at + other, sizeof head); break;
    default:
        memcpy(head, v->at + at, sizeof head);
        memmove(v->at + at, v->at + other, sizeof head);
        memcpy(v->at + other, head, sizeof head);
    }
}

/* An entry of a table: of the first section of that type, if it is whole. */
static bool
find_entry_of(victim *v, uint32_t type, size_t bytes, uint64_t *at)
{
    uint64_t head, first = draw(v, v->head.e_shnum ? v->head.e_shnum : 1);
    for (uint64_t i = 0; i < v->head.e_shnum; i++) {
        Elf64_Shdr s;
        if (!find_head(v, (first + i) % v->head.e_shnum, &head))
            continue;
        memcpy(&s, v->at + head, sizeof s);
        if (s.sh_type != type || s.sh_offset > v->size || s.sh_size > v->size - s.sh_offset || s.sh_size < bytes)
            continue;
        *at = s.sh_offset + draw(v, s.sh_size / bytes) * bytes;
        return true;
    }
    return false;
}

static void
change_symbol(victim *v)
{
    uint64_t at;
    if (!find_entry_of(v, SHT_SYMTAB, sizeof(Elf64_Sym), &at))
        return;
    switch (draw(v, 5)) {
    case 0: CHANGE(v, at, Elf64_Sym, st_name); break;
    case 1: CHANGE(v, at, Elf64_Sym, st_info); break;
    case 2: CHANGE(v, at, Elf64_Sym, st_shndx); break;
    case 3: CHANGE(v, at, Elf64_Sym, st_value); break;
    default: v->at[at + offsetof(Elf64_Sym, st_shndx)] = (uint8_t)draw(v, v->head.e_shnum + 1u); break;
    }
}

static void
change_relocation(victim *v)
{
    static const uint16_t kinds[] = {R_X86_64_64, R_X86_64_PC32, R_X86_64_PLT32, R_X86_64_GOTPCREL, R_AARCH64_ABS64, R_AARCH64_PREL32,
                                     R_AARCH64_CALL26, R_AARCH64_JUMP26, R_AARCH64_ADR_PREL_PG_HI21, R_AARCH64_ADD_ABS_LO12_NC,
                                     R_AARCH64_LDST8_ABS_LO12_NC, R_AARCH64_LDST16_ABS_LO12_NC, R_AARCH64_LDST32_ABS_LO12_NC,
                                     R_AARCH64_LDST64_ABS_LO12_NC, R_AARCH64_LDST128_ABS_LO12_NC};
    uint64_t at, other;
    if (!find_entry_of(v, SHT_RELA, sizeof(Elf64_Rela), &at) || !find_entry_of(v, SHT_RELA, sizeof(Elf64_Rela), &other))
        return;
    uint8_t *info = v->at + at + offsetof(Elf64_Rela, r_info);
    uint32_t kind = kinds[draw(v, countof(kinds))];
    switch (draw(v, 6)) {
    case 0: CHANGE(v, at, Elf64_Rela, r_offset); break;
    case 1: CHANGE(v, at, Elf64_Rela, r_addend); break;
    case 2: memcpy(info, &kind, sizeof kind); break;
    case 3: change_field(v, at + offsetof(Elf64_Rela, r_info), 4); break;     /* its kind */
    case 4: change_field(v, at + offsetof(Elf64_Rela, r_info) + 4, 4); break; /* its symbol */
    default: memmove(v->at + at, v->at + other, sizeof(Elf64_Rela)); break;
    }
}

static void
change_length(victim *v)
{
    size_t size = draw(v, 4) ? v->size - draw(v, v->size < 64 ? v->size : 64) : draw(v, v->most + 1);
    if (size > v->size)
        memset(v->at + v->size, 0, size - v->size);
    v->size = size;
}

static size_t
damage(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    victim v = {data, size, most, seed * 0x9e3779b97f4a7c15u + 1, {{0}}};
    for (uint64_t k = 1 + draw(&v, 3); k && v.size >= sizeof v.head; k--) {
        memcpy(&v.head, data, sizeof v.head);
        switch (draw(&v, 16)) {
        case 0: change_head(&v); break;
        case 1: change_length(&v); break;
        case 2: data[draw(&v, v.size)] = (uint8_t)draw(&v, 256); break;
        case 3:
        case 4:
        case 5:
        case 6: change_symbol(&v); break;
        case 7:
        case 8:
        case 9:
        case 10: change_relocation(&v); break;
        default: change_section(&v); break;
        }
    }
    return v.size < sizeof v.head ? fuzz_bytes(data, v.size, most, seed) : v.size;
}

fuzz_change *const fuzz_mutate = damage;

/* -- an input ------------------------------------------------------------------------------------ */

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    return 0;
}

/* Near and far functions, and names that nobody has. */
static void *
find_any(const char *name)
{
    static char near;
    uint64_t far = 0x0000123456789abc;
    return name[0] == 'm' ? NULL : name[0] & 1 ? &near : (void *)(uintptr_t)far;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint16_t machines[] = {EM_X86_64, EM_AARCH64};
    fuzz_begin();
    for (size_t i = 0; i < countof(machines); i++) {
        str error = {.in = mem_scratch()};
        rt_object *object = rt_object_load_for(machines[i], (rg_str){(const char *)data, size}, ll_entry_name, find_any, &error);
        FUZZ_CHECK(object ? !error.len && rt_object_entry(object) : error.len > 0, "refused without a reason, or loaded with one");
        FUZZ_CHECK(!error.len || strlen(error.ptr) == error.len, "a message with a zero in it");
        fuzz_taken |= object != NULL;
        rt_object_free(object);
    }
    fuzz_end();
    return 0;
}

/* GPUs of AMD's without a GPU: launches of a fake HIP (fake_driver.c) run as waves, an instruction after the other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What an instruction does comes from elsewhere (instructions.h); here is what a GPU does around it: it loads a code object, gives a
 * wave its registers as the kernel's descriptor asks for, and lets all waves of a launch run in turns, so that blocks may wait
 * for each other. What a kernel must not rely on is noise: registers, a thread's and a block's own memory.
 *
 *   RG_EMULATED         the GPU: gfx1100 or gfx942
 *   RG_EMULATED_KEEP    a file for the code object that was loaded last, to look at what stands where a wave falls */
#include "../fake_driver.h"
#include "instructions.h"

#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, TURN = 200, DESCRIPTOR = 64, HIDDEN = 256, ROOM = 1 << 16, REGISTERS = 256 };
enum { PROCESSORS = 2, WARPS = 8 }; /* each warp costs a kernel's beginning */

/* in a wave's scalar registers */
enum { NOWHERE = 124 /* where waves have 32 lanes */, EXEC = 126, CONSTANTS = 128, COUNTER = 256, SCRATCH_STRIDE = 259, SCALARS = 512 };
enum { SCRATCH = 209, SHARED = 211, CLOCK = 213, INDEXING = 215, SHARED_BASE = 235, PRIVATE_BASE = 237 }; /* as instructions.py has them */
enum { SHARED_APERTURE = 0x10000, PRIVATE_APERTURE = 0x20000 }; /* upper halves of addresses that nothing else has */

/* what a kernel asks for */
enum { ASKS_BUFFER = 1, ASKS_PACKET = 2, ASKS_QUEUE = 4, ASKS_ARGUMENTS = 8, ASKS_FLAT_SCRATCH = 32, ASKS_SIZE = 64 };

typedef struct descriptor {
    uint32_t shared, scratch, arguments, unused;
    int64_t entry;
    uint8_t unused_too[20];
    uint32_t resources[3]; /* 3, 1, 2 */
    uint16_t asks, preload;
    uint32_t reserved;
} descriptor;
_Static_assert(sizeof(descriptor) == DESCRIPTOR, "as the ABI has it");

typedef struct object {
    char *memory;
    size_t bytes;
    const descriptor *kernel;
    const instruction **at; /* by word of the code, once it has run */
} object;

typedef struct wave {
    uint32_t *scalars, *vectors, *accumulators;
    void *shared, *scratch;
    uint32_t block;
    enum { RUNS, WAITS, ENDED } state;
} wave;

extern fake_driver fake;

/* What a queue of HSA's has of a launch. */
typedef struct packet {
    uint16_t header, dimensions, block[3], reserved;
    uint32_t threads[3], scratch, shared;
    uint64_t kernel, arguments, reserved_too, signal;
} packet;

typedef struct launched {
    packet packet;
    wave *waves;
    uint32_t blocks, each; /* waves of a block */
    void **shared;
    char *arguments;
} launched;

static uint32_t gpu, lanes;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

static _Noreturn void
give_up(const char *what)
{
    fprintf(stderr, "emulator: %s\n", what);
    _exit(3);
}

/* -- a code object ------------------------------------------------------------------------------------------------------- */

static const char *
section(const char *image, uint32_t type, size_t *bytes, const char **strings)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)image;
    const Elf64_Shdr *all = (const Elf64_Shdr *)(image + h->e_shoff);
    for (int i = 1; i < h->e_shnum; i++)
        if (all[i].sh_type == type) {
            *bytes = all[i].sh_size;
            *strings = image + all[all[i].sh_link].sh_offset;
            return image + all[i].sh_offset;
        }
    give_up("a code object without symbols");
}

/* Of the only kernel in it. */
static uint64_t
find_kernel(const char *image)
{
    size_t bytes;
    const char *names;
    const Elf64_Sym *all = (const Elf64_Sym *)section(image, SHT_DYNSYM, &bytes, &names);
    uint64_t found = 0;
    for (size_t i = 1; i < bytes / sizeof *all; i++) {
        const char *name = names + all[i].st_name;
        size_t n = strlen(name);
        if (n < 3 || strcmp(name + n - 3, ".kd") != 0)
            continue;
        if (found)
            give_up("a code object with several kernels");
        found = all[i].st_value;
    }
    return found ? found : (give_up("a code object without a kernel"), 0);
}

static void
check_kernel(const descriptor *k)
{
    uint32_t modes = k->resources[1] >> 12 & 0xff; /* rounding, and what is below the normal range: 3 is kept */
    bool short_waves = k->asks >> 10 & 1;
    if (modes != 0xf0)
        give_up("a kernel that does not keep what is below the normal range");
    if (k->preload || k->asks & (ASKS_FLAT_SCRATCH | ASKS_SIZE))
        give_up("a kernel asks for what no wave is given here");
    if (short_waves != (lanes == 32))
        give_up("a kernel for waves of another length");
    if (k->shared > ROOM || k->arguments < HIDDEN + 8)
        give_up("a kernel's descriptor is damaged");
}

/* Its sections' table stands last. */
static void
keep(const Elf64_Ehdr *h)
{
    const char *path = getenv("RG_EMULATED_KEEP");
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        return;
    fwrite(h, 1, h->e_shoff + h->e_shnum * sizeof(Elf64_Shdr), file);
    fclose(file);
}

static void *
load(const void *image)
{
    const Elf64_Ehdr *h = image;
    const Elf64_Phdr *all = (const Elf64_Phdr *)((const char *)image + h->e_phoff);
    object *o = calloc(1, sizeof *o);
    for (int i = 0; i < h->e_phnum; i++)
        if (all[i].p_type == PT_LOAD && all[i].p_vaddr + all[i].p_memsz > o->bytes)
            o->bytes = all[i].p_vaddr + all[i].p_memsz;
    o->bytes = (o->bytes + INSTRUCTION_BYTES + PAGE - 1) / PAGE * PAGE;
    o->memory = aligned_alloc(PAGE, o->bytes);
    memset(o->memory, 0, o->bytes);
    for (int i = 0; i < h->e_phnum; i++)
        if (all[i].p_type == PT_LOAD)
            memcpy(o->memory + all[i].p_vaddr, (const char *)image + all[i].p_offset, all[i].p_filesz);
    keep(h);
    o->kernel = (const descriptor *)(o->memory + find_kernel(image));
    check_kernel(o->kernel);
    o->at = calloc(o->bytes / 4, sizeof *o->at);
    return o;
}

static void
unload(void *code)
{
    object *o = code;
    free(o->memory);
    free(o->at);
    free(o);
}

/* -- a wave -------------------------------------------------------------------------------------------------------------- */

static uint32_t
noise(void)
{
    static uint32_t state = 1;
    return state = state * 1664525u + 1013904223u;
}

static void *
make_noise(size_t bytes)
{
    uint32_t *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    for (size_t i = 0; i < bytes / 4; i++)
        memory[i] = noise();
    return memory;
}

static void
put_address(uint32_t *scalars, uint32_t at, const void *address)
{
    uint64_t value = (uint64_t)(uintptr_t)address;
    memcpy(&scalars[at], &value, sizeof value);
}

static void
set_constants(uint32_t *s)
{
    static const float floats[] = {0.5f, -0.5f, 1, -1, 2, -2, 4, -4};
    static const uint32_t part = 0x3e22f983; /* 1 / (2 pi) */
    for (uint32_t i = 0; i < 64 + 1; i++)
        s[CONSTANTS + i] = i;
    for (uint32_t i = 1; i <= 16; i++)
        s[CONSTANTS + 64 + i] = -i;
    memset(&s[CONSTANTS + 64 + 17], 0, (256 - CONSTANTS - 64 - 17) * sizeof *s);
    memcpy(&s[240], floats, sizeof floats);
    s[248] = part;
}

/* What a kernel asks for, in the ABI's order, then where its block is. LLVM asks for more than code uses: that stays noise. */
static void
set_registers(wave *w, const object *o, const launched *l, uint32_t first)
{
    const descriptor *k = o->kernel;
    uint32_t *s = w->scalars, at = k->asks & ASKS_BUFFER ? 4 : 0;
    set_constants(s);
    if (k->asks & ASKS_PACKET)
        put_address(s, at, &l->packet), at += 2;
    if (k->asks & ASKS_QUEUE)
        at += 2;
    if (k->asks & ASKS_ARGUMENTS)
        put_address(s, at, l->arguments), at += 2;
    if (at > (k->resources[2] >> 1 & 31))
        give_up("a kernel's descriptor is damaged");
    uint32_t resources = k->resources[2], given = resources >> 1 & 31;
    for (uint32_t axis = 0; axis < 3; axis++)
        if (resources >> (7 + axis) & 1)
            s[given++] = axis == 0 ? w->block : 0;
    memset(&s[EXEC], 0xff, lanes / 8);
    if (lanes == 32)
        s[NOWHERE] = s[EXEC + 1] = 0;
    put_address(s, COUNTER, (const char *)k + k->entry);
    s[COUNTER + 2] = 0;
    s[SCRATCH_STRIDE] = k->scratch;
    put_address(s, SCRATCH, w->scratch);
    put_address(s, SHARED, w->shared);
    s[SHARED_BASE] = SHARED_APERTURE;
    s[PRIVATE_BASE] = PRIVATE_APERTURE;
    for (uint32_t i = 0; i < lanes; i++)
        w->vectors[i] = first + i; /* y and z, in upper bits, are 0 */
}

static void
begin_wave(wave *w, const object *o, const launched *l, uint32_t block, uint32_t first)
{
    w->scalars = make_noise(SCALARS * sizeof(uint32_t));
    w->vectors = make_noise((size_t)REGISTERS * lanes * sizeof(uint32_t));
    w->accumulators = make_noise((size_t)REGISTERS * lanes * sizeof(uint32_t));
    w->scratch = make_noise((size_t)o->kernel->scratch * lanes + 64);
    w->shared = l->shared[block];
    w->block = block;
    w->state = RUNS;
    set_registers(w, o, l, first);
}

static void
end_wave(wave *w)
{
    free(w->scalars);
    free(w->vectors);
    free(w->accumulators);
    free(w->scratch);
}

static const instruction *
next(object *o, uint64_t counter)
{
    uint64_t at = counter - (uint64_t)(uintptr_t)o->memory;
    if (at >= o->bytes - INSTRUCTION_BYTES || at % 4)
        give_up("a wave has left its code");
    if (!o->at[at / 4])
        o->at[at / 4] = instruction_at(gpu, o->memory + at);
    return o->at[at / 4];
}

/* Where a wave is: a fault of its own says so. */
static struct { const wave *wave; uint64_t at; } current;

static void
fall(int signal)
{
    char text[160];
    if (current.wave) {
        int n = snprintf(text, sizeof text, "emulator: a wave of block %u has memory that is not there, %#llx in its code object\n",
                         current.wave->block, (unsigned long long)current.at);
        (void)!write(2, text, (size_t)n);
    }
    _exit(3);
}

/* One turn; how many instructions. */
static uint32_t
run(wave *w, object *o, uint64_t clock)
{
    void *all[INSTRUCTION_ARGUMENTS] = {w->scalars, w->vectors, NULL, w->shared, w->scratch, w->accumulators};
    memcpy(&w->scalars[CLOCK], &clock, sizeof clock);
    current.wave = w;
    for (uint32_t n = 0; n < TURN; n++) {
        uint64_t counter;
        memcpy(&counter, &w->scalars[COUNTER], sizeof counter);
        if (counter == UINT64_MAX) {
            w->state = ENDED;
            return n;
        }
        const instruction *i = next(o, counter);
        if (w->scalars[INDEXING] && !(i->flags & INSTRUCTION_INDEXES))
            give_up("an instruction that the emulator does not index");
        current.at = counter - (uint64_t)(uintptr_t)o->memory;
        i->run(all[i->order[0]], all[i->order[1]], all[i->order[2]], all[i->order[3]], all[i->order[4]], all[i->order[5]]);
        if (i->flags & INSTRUCTION_BARRIER) {
            w->state = WAITS;
            return n + 1;
        }
        if (i->flags & INSTRUCTION_YIELDS)
            return n + 1;
    }
    return TURN;
}

/* -- a launch ------------------------------------------------------------------------------------------------------------ */

/* Where all waves of a block that have not ended are at a barrier, they go on. */
static bool
meet(wave *waves, uint32_t n)
{
    uint32_t waiting = 0, running = 0;
    for (uint32_t i = 0; i < n; i++) {
        waiting += waves[i].state == WAITS;
        running += waves[i].state == RUNS;
    }
    if (running || !waiting)
        return running > 0;
    for (uint32_t i = 0; i < n; i++)
        if (waves[i].state == WAITS)
            waves[i].state = RUNS;
    return true;
}

static void
run_all(launched *l, object *o)
{
    uint64_t clock = 0;
    for (bool live = true; live;) {
        live = false;
        for (uint32_t i = 0; i < l->blocks * l->each; i++)
            if (l->waves[i].state == RUNS)
                clock += run(&l->waves[i], o, clock);
        for (uint32_t b = 0; b < l->blocks; b++)
            live |= meet(&l->waves[b * l->each], l->each);
    }
}

/* The kernel's, and behind them the driver's: numbers of blocks and of their threads. */
static char *
make_arguments(const object *o, uint32_t blocks, uint32_t threads, void *record, const void *parameter)
{
    char *memory = calloc(1, o->kernel->arguments + 64);
    size_t own = o->kernel->arguments - HIDDEN;
    const uint32_t counts[3] = {blocks, 1, 1};
    const uint16_t sizes[3] = {(uint16_t)threads, 1, 1};
    memcpy(memory, &record, sizeof record);
    memcpy(memory + sizeof record, parameter, own - sizeof record);
    memcpy(memory + own, counts, sizeof counts);
    memcpy(memory + own + sizeof counts, sizes, sizeof sizes);
    return memory;
}

static void
play(void *code, unsigned grid, unsigned block, void *record, void *parameter)
{
    object *o = code;
    launched l = {.blocks = grid, .each = block / lanes, .packet = {.block = {(uint16_t)block, 1, 1}, .threads = {grid * block, 1, 1}}};
    if (block % lanes)
        give_up("a block has part of a wave");
    l.waves = calloc((size_t)grid * l.each, sizeof *l.waves);
    l.shared = calloc(grid, sizeof *l.shared);
    l.arguments = make_arguments(o, grid, block, record, parameter);
    pthread_mutex_lock(&one);
    for (uint32_t b = 0; b < grid; b++) {
        l.shared[b] = make_noise(ROOM);
        for (uint32_t i = 0; i < l.each; i++)
            begin_wave(&l.waves[b * l.each + i], o, &l, b, i * lanes);
    }
    run_all(&l, o);
    current.wave = NULL;
    pthread_mutex_unlock(&one);
    for (uint32_t i = 0; i < grid * l.each; i++)
        end_wave(&l.waves[i]);
    for (uint32_t b = 0; b < grid; b++)
        free(l.shared[b]);
    free(l.waves);
    free(l.shared);
    free(l.arguments);
}

static void __attribute__((constructor))
begin(void)
{
    const char *name = getenv("RG_EMULATED");
    if (!name || strncmp(name, "gfx", 3) != 0)
        give_up("RG_EMULATED names no GPU");
    gpu = (uint32_t)strtoul(name + 3, NULL, 10);
    lanes = gpu < 1000 ? 64 : 32;
    signal(SIGSEGV, fall);
    fake.code = name;
    fake.load = load;
    fake.unload = unload;
    fake.play = play;
    fake.processors = PROCESSORS;
    fake.resident = WARPS * (int)lanes;
    fake.devices = 1;
    fake.used = 0;
    fake.free = (size_t)1 << 33;
}

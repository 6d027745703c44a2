/* See instructions.h. SPDX-License-Identifier: Apache-2.0 */
#include "instructions.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { KNOWN = 1 << 17, FUNCTIONS = 1 << 14, CODE_BYTES = 1 << 26, TEXT = 4096, LINE = 64 };

typedef struct question {
    uint32_t gpu;
    uint8_t code[INSTRUCTION_BYTES];
} question;

typedef struct reply {
    uint32_t size, flags, number, bytes;
    uint8_t order[8];
} reply;

/* by their bytes, which a hash finds; the bytes behind an instruction's are 0 */
static struct { uint32_t size; uint8_t code[INSTRUCTION_BYTES]; instruction made; } known[KNOWN];
static uint32_t knows;
static void (*functions[FUNCTIONS])(void *, void *, void *, void *, void *, void *);
static char *room;
static size_t used;
static int connection = -1;
static pid_t owner; /* of the connection: children of gen_run have their own */

static _Noreturn void
give_up(const char *what)
{
    fprintf(stderr, "emulator: %s\n", what);
    _exit(3);
}

static void
find_process(void)
{
    const char *path = getenv("RG_EMULATOR");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (connection >= 0 && owner == getpid())
        return;
    if (!path || strlen(path) >= sizeof to.sun_path)
        give_up("RG_EMULATOR names no socket of tests/amd/instructions.py");
    if (connection >= 0)
        close(connection);
    strcpy(to.sun_path, path);
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    owner = getpid();
    if (connection < 0 || connect(connection, (struct sockaddr *)&to, sizeof to))
        give_up("tests/amd/instructions.py does not answer");
}

static void
receive(void *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        ssize_t part = read(connection, (char *)to + got, n - got);
        if (part <= 0)
            give_up("tests/amd/instructions.py has gone");
        got += (size_t)part;
    }
}

static void
keep_function(uint32_t number, size_t bytes)
{
    if (!room)
        room = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED || number >= FUNCTIONS || bytes > CODE_BYTES - LINE - used)
        give_up("there is no room for more functions");
    receive(room + used, bytes);
    void *at = room + used;
    memcpy(&functions[number], &at, sizeof at);
    used = (used + bytes + LINE - 1) / LINE * LINE;
}

static reply
ask(uint32_t gpu, const uint8_t *code)
{
    question q = {.gpu = gpu};
    reply r;
    char text[TEXT] = "";
    memcpy(q.code, code, sizeof q.code);
    find_process();
    if (write(connection, &q, sizeof q) != sizeof q)
        give_up("tests/amd/instructions.py has gone");
    receive(&r, sizeof r);
    if (!r.size) {
        size_t n = (size_t)snprintf(text, sizeof text, "no instruction: ");
        for (size_t i = 0; i < INSTRUCTION_BYTES; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%02x", code[i]);
        text[n++] = ' ';
        receive(text + n, r.bytes < sizeof text - n - 1 ? r.bytes : sizeof text - n - 1);
        give_up(text);
    }
    if (r.bytes)
        keep_function(r.number, r.bytes);
    return r;
}

/* Where it is or would be. */
static uint32_t
place_of(const uint8_t *code, uint32_t size)
{
    uint64_t h = size;
    for (uint32_t i = 0; i < size; i++)
        h = (h ^ code[i]) * 0x100000001b3u;
    uint32_t at = (uint32_t)(h >> 20) % KNOWN;
    while (known[at].size && (known[at].size != size || memcmp(known[at].code, code, size) != 0))
        at = (at + 1) % KNOWN;
    return at;
}

/* How long an instruction is its first bytes say. */
const instruction *
instruction_at(uint32_t gpu, const void *code)
{
    for (uint32_t size = 4; size <= INSTRUCTION_BYTES; size += 4) {
        uint32_t at = place_of(code, size);
        if (known[at].size)
            return &known[at].made;
    }
    if (knows == KNOWN / 2)
        give_up("there are too many different instructions");
    reply r = ask(gpu, code);
    uint32_t at = place_of(code, r.size);
    known[at].size = r.size;
    memcpy(known[at].code, code, r.size);
    known[at].made = (instruction){functions[r.number], {0}, r.size, r.flags};
    memcpy(known[at].made.order, r.order, sizeof r.order);
    knows++;
    return &known[at].made;
}

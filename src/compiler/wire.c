/* What a process and its helper say to each other. SPDX-License-Identifier: Apache-2.0 */
#include "compiler/wire.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

extern char **environ;

/* -- packets ------------------------------------------------------------------------------------------------------- */

/* false: errno tells why. Seconds are counted one by one: a process that was stopped itself has not waited. */
static bool
wait_for(int fd, short events, unsigned patience)
{
    struct pollfd p = {.fd = fd, .events = events};
    for (unsigned waited = 0; !patience || waited < patience;) {
        int ready = poll(&p, 1, 1000);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        waited += ready == 0;
    }
    errno = ETIMEDOUT;
    return false;
}

bool
wire_send(int fd, char kind, const void *data, size_t n, unsigned patience)
{
    struct iovec parts[2] = {{&kind, 1}, {(void *)(uintptr_t)data, n}};
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
    while (sendmsg(fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno != EINTR && ((errno != EAGAIN && errno != ENOBUFS) || !wait_for(fd, POLLOUT, patience)))
            return false;
    }
    return true;
}

bool
wire_send_whole(int fd, rg_str bytes, unsigned patience)
{
    for (size_t at = 0; at < bytes.len; at += WIRE_ROOM) {
        size_t n = bytes.len - at < WIRE_ROOM ? bytes.len - at : WIRE_ROOM;
        if (!wire_send(fd, WIRE_PIECE, bytes.ptr + at, n, patience))
            return false;
    }
    return wire_send(fd, WIRE_WHOLE, NULL, 0, patience);
}

ssize_t
wire_receive(int fd, char packet[WIRE_ROOM + 1], unsigned patience)
{
    for (;;) {
        ssize_t n = recv(fd, packet, WIRE_ROOM + 1, MSG_DONTWAIT);
        if (n >= 0)
            return n;
        /* the other end has closed with packets of ours unread: what it sent before is still to be had */
        if (errno != EINTR && errno != ECONNRESET && (errno != EAGAIN || !wait_for(fd, POLLIN, patience)))
            return -1;
    }
}

/* -- the process --------------------------------------------------------------------------------------------------- */

void
wire_put_process(str *out)
{
    char folder[PATH_MAX];
    struct rlimit memory;
    uint32_t n = 0;
    while (environ && environ[n])
        n++;
    bytes_put_list(out, (const char *const *)environ, n);
    bytes_put(out, rg_str_of(getcwd(folder, sizeof folder)));
    bytes_put_u64(out, getrlimit(RLIMIT_AS, &memory) || memory.rlim_cur == RLIM_INFINITY ? UINT64_MAX : memory.rlim_cur);
}

void
wire_take_process(bytes_reader *r)
{
    uint32_t n;
    char **variables = (char **)bytes_list(r, &n, mem_scratch());
    const char *folder = bytes_text(r, mem_scratch());
    uint64_t limit = bytes_u64(r);
    struct rlimit memory;
    if (r->damaged)
        return;
    environ = variables;
    setenv("LIBCLANG_DISABLE_CRASH_RECOVERY", "1", 1); /* a fault ends the worker, and is told */
    if (folder && chdir(folder))
        r->damaged = true;
    if (getrlimit(RLIMIT_AS, &memory))
        return;
    memory.rlim_cur = limit == UINT64_MAX ? RLIM_INFINITY : limit;
    if (memory.rlim_cur > memory.rlim_max)
        memory.rlim_cur = memory.rlim_max;
    setrlimit(RLIMIT_AS, &memory);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#if RG_HAVE_LLVM
void
wire_put_fns(str *out, const ir_fn *const *fns, const char *const *names, uint32_t n)
{
    bytes_put_list(out, names, n);
    for (uint32_t i = 0; i < n; i++) {
        str text = {.in = mem_scratch()};
        ir_print_exact(&text, fns[i]->module);
        bytes_put(out, rg_str_of(fns[i]->module->target->name));
        bytes_put(out, rg_str_of(fns[i]->name));
        bytes_put(out, str_view(&text));
    }
}

static ir_fn *
get_fn(bytes_reader *r, diag_list *diags)
{
    const char *machine = bytes_text(r, mem_scratch()), *name = bytes_text(r, mem_scratch());
    rg_str text = bytes_str(r);
    const target *t = machine ? target_find(machine) : NULL;
    ir_module *m = t && name && !r->damaged ? ir_parse_exact(text, "", diags) : NULL;
    ir_fn *fn = m ? ir_fn_find(m, rg_str_of(name)) : NULL;
    if (!fn)
        return NULL;
    m->target = t;
    ir_renumber(fn);
    return fn;
}

bool
wire_get_fns(bytes_reader *r, const ir_fn *const **fns, const char *const **names, uint32_t *n, diag_list *diags)
{
    *names = bytes_list(r, n, mem_scratch());
    const ir_fn **list = arena_new_n(mem_scratch(), const ir_fn *, *n + 1);
    *fns = list;
    for (uint32_t i = 0; i < *n; i++)
        if (!(list[i] = get_fn(r, diags)))
            return false;
    return true;
}

/* for each parameter and each result */
static uint32_t
count_arrays(const ir_fn *fn)
{
    return fn->body->nparams + ir_terminator(fn->body)->nargs;
}

void
wire_put_options(str *out, const ir_fn *fn, const ll_options *o)
{
    uint32_t n = fn ? count_arrays(fn) : 0;
    bytes_put(out, (rg_str){(const char *)o->present, o->present ? n : 0});
    bytes_put(out, (rg_str){(const char *)o->absent, o->absent ? n : 0});
    bytes_put(out, (rg_str){(const char *)o->contiguous, o->contiguous ? n * sizeof(bool) : 0});
    bytes_put_u32(out, o->noalias | o->alone << 1 | o->native_math << 2 | o->deterministic << 3 | o->fast_math << 4 | o->assembly << 5);
    bytes_put(out, rg_str_of(o->libdevice));
    bytes_put(out, rg_str_of(o->triple));
    bytes_put(out, rg_str_of(o->cpu));
    bytes_put(out, rg_str_of(o->features));
    bytes_put(out, rg_str_of(o->made));
    bytes_put(out, rg_str_of(o->needs));
}

void
wire_get_options(bytes_reader *r, ll_options *o)
{
    *o = (ll_options){0};
    o->present = (const uint8_t *)bytes_str(r).ptr;
    o->absent = (const uint8_t *)bytes_str(r).ptr;
    o->contiguous = (const bool *)bytes_str(r).ptr;
    uint32_t bits = bytes_u32(r);
    o->noalias = bits & 1;
    o->alone = bits >> 1 & 1;
    o->native_math = bits >> 2 & 1;
    o->deterministic = bits >> 3 & 1;
    o->fast_math = bits >> 4 & 1;
    o->assembly = bits >> 5 & 1;
    o->libdevice = bytes_text(r, mem_scratch());
    o->triple = bytes_text(r, mem_scratch());
    o->cpu = bytes_text(r, mem_scratch());
    o->features = bytes_text(r, mem_scratch());
    o->made = bytes_text(r, mem_scratch());
    o->needs = bytes_text(r, mem_scratch());
}
#endif

/* -- C ------------------------------------------------------------------------------------------------------------- */

#if RG_HAVE_CLANG
void
wire_put_source(str *out, const front_c_source *s)
{
    bytes_put(out, rg_str_of(s->path));
    bytes_put(out, s->text);
    bytes_put(out, rg_str_of(s->kernel));
    bytes_put_list(out, s->include_paths, s->include_count);
    bytes_put_list(out, s->defines, s->define_count);
    bytes_put_list(out, s->options, s->option_count);
    bytes_put_u32(out, s->on_disk | (s->seen != NULL) << 1);
    bytes_put_u32(out, s->file_count);
    for (uint32_t i = 0; i < s->file_count; i++) {
        bytes_put(out, rg_str_of(s->files[i].path));
        bytes_put(out, s->files[i].text);
    }
}

/* The front end looks at the zero behind a text. */
static rg_str
get_text(bytes_reader *r)
{
    rg_str s = bytes_str(r);
    return s.ptr ? (rg_str){arena_str(mem_scratch(), s), s.len} : s;
}

void
wire_get_source(bytes_reader *r, front_c_source *s)
{
    *s = (front_c_source){0};
    s->path = bytes_text(r, mem_scratch());
    s->text = get_text(r);
    s->kernel = bytes_text(r, mem_scratch());
    s->include_paths = bytes_list(r, &s->include_count, mem_scratch());
    s->defines = bytes_list(r, &s->define_count, mem_scratch());
    s->options = bytes_list(r, &s->option_count, mem_scratch());
    uint32_t bits = bytes_u32(r);
    s->on_disk = bits & 1;
    s->seen = bits & 2 ? arena_one(mem_scratch(), seen_list) : NULL;
    s->file_count = bytes_count(r, 16);
    front_c_file *files = arena_new_n(mem_scratch(), front_c_file, s->file_count + 1);
    for (uint32_t i = 0; i < s->file_count; i++) {
        files[i].path = bytes_text(r, mem_scratch());
        files[i].text = get_text(r);
        r->damaged |= !files[i].path;
    }
    s->files = files;
    r->damaged |= !s->path;
}

void
wire_put_seen(str *out, const seen_list *seen)
{
    bytes_put_u32(out, seen->open);
    seen_write(seen, out);
}

bool
wire_get_seen(bytes_reader *r, seen_list *seen)
{
    bool open = bytes_u32(r), whole = seen_read(r, seen);
    seen->open = open;
    return whole;
}

void
wire_put_names(str *out, const front_c_names *names)
{
    bytes_put_u32(out, names->count);
    bytes_put_list(out, names->names, names->count + names->statics);
}

void
wire_get_names(bytes_reader *r, front_c_names *names)
{
    uint32_t n;
    names->count = bytes_u32(r);
    names->names = bytes_list(r, &n, mem_scratch());
    r->damaged |= names->count > n;
    names->statics = n - names->count;
}
#endif

/* -- answers ------------------------------------------------------------------------------------------------------- */

void
wire_put_diags(str *out, const diag_list *diags)
{
    bytes_put_u32(out, diags->errors);
    bytes_put_u32(out, diags->kinds);
    bytes_put(out, str_view(&diags->text));
}

void
wire_get_diags(bytes_reader *r, diag_list *diags)
{
    diag_list read = {.errors = bytes_u32(r), .text.in = mem_scratch()};
    read.kinds = bytes_u32(r);
    str_add(&read.text, bytes_str(r));
    if (!r->damaged)
        diag_join(diags, &read);
}

void
wire_put_module(str *out, const ir_module *m)
{
    str text = {.in = mem_scratch()};
    ir_print_exact(&text, m);
    bytes_put(out, str_view(&text));
    bytes_put_u32(out, (uint32_t)m->files.n);
    for (size_t i = 0; i < m->files.n; i++) {
        bytes_put(out, rg_str_of(m->files.at[i].path));
        bytes_put(out, (rg_str){m->files.at[i].text, m->files.at[i].text ? m->files.at[i].len : 0});
    }
}

ir_module *
wire_get_module(bytes_reader *r, const char *path, diag_list *diags)
{
    ir_module *m = ir_parse_exact(bytes_str(r), path, diags);
    mem_owner owns;
    mem_own(&owns, ir_module_release, m);
    bool good = m && ir_verify(m, IR_STAGE_SOURCE, NULL, diags);
    uint32_t n = bytes_count(r, 16);
    for (uint32_t i = 0; i < n && good; i++) {
        const char *file = bytes_text(r, mem_scratch());
        rg_str text = bytes_str(r);
        if (file)
            ir_know_text(m, file, text);
    }
    mem_disown(&owns);
    if (good && !r->damaged)
        return m;
    ir_module_free(m);
    return NULL;
}

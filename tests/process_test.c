/* The helper of compile_process and the process around it: whatever ends the helper is an error, and the next compilation works;
 * no child, signal or descriptor is left. SPDX-License-Identifier: Apache-2.0
 *
 *   process_test HELPER FAKE */
#include "check.h"
#include "compiler/helper.h"
#include "compiler/process.h"
#include "pipeline/pipeline.h"
#include "process.h"
#include "queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 40 };

static const char twice[] = "void twice(int n, double x[n])\n{\n    for (int i = 0; i < n; i++)\n        x[i] = x[i] * 2;\n}\n";
static const char *helper_path, *fake_path;

/* Compiles the text and launches its kernel. NULL: right; else what is wrong. */
static const char *
launch(rg_queue *queue, const char *text, rg_status *status)
{
    rg_module *module = NULL;
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    rg_array *x = NULL;
    double values[N];
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N});
    rg_module_desc how = RG_DESC(rg_module_desc, .compile_process = true);
    rg_status s = rg_module_from_c(rg_str_of(text), &how, &module);
    s = s ? s : rg_module_get_kernel(module, RG_STR("twice"), &kernel);
    s = s ? s : rg_args_create(queue, kernel, &args);
    s = s ? s : rg_array_create(queue, &desc, &x);
    s = s ? s : rg_array_fill(queue, x, RG_PRIMAL, 21);
    s = s ? s : rg_args_set_int(args, RG_STR("n"), N);
    s = s ? s : rg_args_set_array(args, RG_STR("x"), x);
    s = s ? s : rg_launch(queue, args, RG_FORWARD);
    s = s ? s : rg_array_read(queue, x, RG_PRIMAL, values, sizeof values);
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_module_destroy(module);
    *status = s;
    return s ? rg_error_message() : values[0] == 42 && values[N - 1] == 42 ? NULL : "a wrong result";
}

static rg_queue *
open_queue(void)
{
    rg_queue *queue;
    if (queue_open(NULL, &RG_DESC(rg_queue_desc, .num_threads = 1), &queue)) {
        fprintf(stderr, "%s\n", rg_error_message());
        exit(1);
    }
    return queue;
}

static void
check_works(rg_queue *queue, const char *when)
{
    rg_status status;
    const char *wrong = launch(queue, twice, &status);
    CHECK(!wrong, "%s: %s", when, wrong);
}

static void
check_fails(rg_queue *queue, const char *text, rg_status wanted, const char *part, const char *when)
{
    rg_status status;
    const char *message = launch(queue, text, &status);
    CHECK(status == wanted, "%s: %s: %s", when, rg_status_name(status), message ? message : "it worked");
    CHECK(message && strstr(message, part) && strstr(message, "twice"), "%s: the message is\n%s", when, message ? message : "");
}

/* -- a compilation that takes as long as the test wants ------------------------------------------------------------- */

static char fifo[FOLDER_BYTES + 16], waits[256]; /* a header that nobody writes; a source that includes it */

typedef struct compilation {
    pthread_t thread;
    int writer; /* of the header */
    rg_queue *queue;
    rg_status status;
    char message[600];
} compilation;

static void *
compile(void *object)
{
    compilation *c = object;
    const char *message = launch(c->queue, waits, &c->status);
    snprintf(c->message, sizeof c->message, "%s", message ? message : "");
    return NULL;
}

static bool
has_open(pid_t process, const char *path)
{
    char name[300], to[256];
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/fd", process);
    DIR *folder = opendir(name);
    for (struct dirent *e = folder ? readdir(folder) : NULL; e && !found; e = readdir(folder)) {
        snprintf(name, sizeof name, "/proc/%d/fd/%.20s", process, e->d_name);
        ssize_t n = readlink(name, to, sizeof to - 1);
        found = n > 0 && (to[n] = 0, strcmp(to, path) == 0);
    }
    if (folder)
        closedir(folder);
    return found;
}

/* The child of the helper that has the file open; 0: there is none. */
static pid_t
worker_with(const char *path)
{
    char children[64];
    int worker = 0;
    pid_t process = helper_process();
    snprintf(children, sizeof children, "/proc/%d/task/%d/children", process, process);
    FILE *file = fopen(children, "r");
    while (file && fscanf(file, "%d", &worker) == 1)
        if (has_open(worker, path))
            break;
        else
            worker = 0;
    if (file)
        fclose(file);
    return worker;
}

/* The worker that reads the header. */
static pid_t
begin_compilation(compilation *c, rg_queue *queue)
{
    struct timespec nap = {.tv_nsec = 1000000};
    pid_t worker;
    *c = (compilation){.queue = queue};
    pthread_create(&c->thread, NULL, compile, c);
    while ((c->writer = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) { /* until somebody reads */
        if (!pthread_tryjoin_np(c->thread, NULL)) {
            fprintf(stderr, "nobody read the header: %s\n", c->message);
            exit(1);
        }
        nanosleep(&nap, NULL);
    }
    while (!(worker = worker_with(fifo)))
        nanosleep(&nap, NULL);
    return worker;
}

static void
end_compilation(compilation *c)
{
    pthread_join(c->thread, NULL);
    close(c->writer);
}

/* LLVM's handlers take the first signal of some kinds from outside. */
static void
end_worker(pid_t worker, int signal, compilation *c)
{
    struct timespec nap = {.tv_nsec = 10000000};
    for (kill(worker, signal); pthread_tryjoin_np(c->thread, NULL); kill(worker, signal))
        nanosleep(&nap, NULL);
    close(c->writer);
}

static void
check_ended(rg_queue *queue, int signal, rg_status wanted, const char *part)
{
    compilation c;
    pid_t worker = begin_compilation(&c, queue), process = helper_process();
    end_worker(worker, signal, &c);
    CHECK(c.status == wanted && strstr(c.message, part) && strstr(c.message, "`twice`"), "signal %d: %s: %s", signal,
          rg_status_name(c.status), c.message);
    check_works(queue, "after a signal");
    CHECK((helper_process() == process) == (signal != SIGSTOP), "signal %d: the helper was %d, and is %d", signal, process,
          helper_process());
}

static void
check_signals(rg_queue *queue)
{
    struct rlimit old, limited;
    check_ended(queue, SIGKILL, RG_DEVICE, "signal 9");
    check_ended(queue, SIGABRT, RG_DEVICE, "signal 6");
    check_ended(queue, SIGSEGV, RG_DEVICE, "signal 11");
    getrlimit(RLIMIT_AS, &old);
    limited = old;
    limited.rlim_cur = (rlim_t)1 << 46;
    setrlimit(RLIMIT_AS, &limited);
    check_ended(queue, SIGSEGV, RG_OUT_OF_MEMORY, "signal 11");
    check_ended(queue, SIGKILL, RG_DEVICE, "signal 9");
    setrlimit(RLIMIT_AS, &old);
    helper_patience = 1;
    check_ended(queue, SIGSTOP, RG_DEVICE, "silent");
    pid_t process = helper_process();
    kill(process, SIGSTOP);
    check_works(queue, "a helper that is stopped between requests");
    CHECK(helper_process() != process, "the helper that was stopped has work");
    helper_patience = 60;
}

static void
check_killed(rg_queue *queue)
{
    compilation c;
    check_works(queue, "before the helper is killed");
    pid_t process = helper_process();
    kill(process, SIGKILL);
    waitpid(process, NULL, 0); /* which this process adopts */
    check_works(queue, "a helper that was killed between requests");
    begin_compilation(&c, queue);
    process = helper_process();
    kill(process, SIGKILL);
    end_compilation(&c);
    CHECK(c.status == RG_DEVICE && strstr(c.message, "ended while it worked"), "%s: %s", rg_status_name(c.status), c.message);
    check_works(queue, "after the helper was killed at work");
}

/* -- this process runs short ------------------------------------------------------------------------------------------ */

static int refusals, refusal; /* how many requests sendmsg does not take, and its error; ENOMEM: of what is in them */

ssize_t
sendmsg(int fd, const struct msghdr *packet, int flags)
{
    if (refusals && (packet->msg_controllen > 0) == (refusal != ENOMEM)) {
        refusals--;
        errno = refusal;
        return -1;
    }
    return syscall(SYS_sendmsg, fd, packet, flags);
}

static int
find_packet_socket(int but)
{
    for (int fd = 3; fd < 256; fd++) {
        int type = 0;
        socklen_t size = sizeof type;
        if (fd != but && !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET)
            return fd;
    }
    return -1;
}

static rg_status
list_names(str *said)
{
    front_c_source source = {.path = "source.c", .text = RG_STR(twice)};
    front_c_names names;
    diag_list diags = {.text.in = mem_scratch()};
    rg_status status = process_list_c(&source, &names, &diags);
    *said = diags.text;
    return status;
}

/* A compilation that is under way goes on, whatever becomes of another one. */
static void
check_short(rg_queue *queue, const char *what, int count, int error, rg_status wanted, const char *part)
{
    compilation c;
    str said;
    struct rlimit old, none;
    begin_compilation(&c, queue);
    pid_t process = helper_process();
    getrlimit(RLIMIT_NOFILE, &old);
    none = old;
    none.rlim_cur = 3;
    refusals = count, refusal = error;
    if (error == EMFILE)
        setrlimit(RLIMIT_NOFILE, &none);
    rg_status status = list_names(&said);
    setrlimit(RLIMIT_NOFILE, &old);
    refusals = 0;
    CHECK(status == wanted && (!part || (said.ptr && strstr(said.ptr, part))), "%s: %s: %s", what, rg_status_name(status),
          said.ptr);
    CHECK(helper_process() == process, "%s: the helper was %d, and is %d", what, process, helper_process());
    close(c.writer); /* the header is empty */
    pthread_join(c.thread, NULL);
    CHECK(!c.status, "%s: the compilation under way: %s: %s", what, rg_status_name(c.status), c.message);
}

/* The host gives the number of a request's descriptor to another file. */
static void
check_taken_number(rg_queue *queue)
{
    compilation c;
    int control = find_packet_socket(-1), null = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t process = helper_process();
    begin_compilation(&c, queue);
    dup2(null, find_packet_socket(control));
    pthread_join(c.thread, NULL);
    close(null), close(c.writer);
    CHECK(c.status == RG_DEVICE && strstr(c.message, "non-socket"), "%s: %s", rg_status_name(c.status), c.message);
    CHECK(helper_process() == process, "the helper was %d, and is %d", process, helper_process());
    check_works(queue, "after a request's descriptor was taken");
}

static void
check_shortage(rg_queue *queue)
{
    check_works(queue, "before it runs short");
    check_short(queue, "no descriptor", 0, EMFILE, RG_DEVICE, "Too many open files");
    check_short(queue, "a helper that is busy", 20, EAGAIN, RG_OK, NULL);
    check_short(queue, "descriptors on their way", 20, ETOOMANYREFS, RG_OK, NULL);
    check_short(queue, "no memory for a packet", 1, ENOBUFS, RG_OUT_OF_MEMORY, "No buffer space");
    check_short(queue, "no memory for a piece", -1, ENOMEM, RG_OUT_OF_MEMORY, "Cannot allocate memory");
    helper_patience = 2;
    check_short(queue, "descriptors that stay on their way", -1, ETOOMANYREFS, RG_DEVICE, "Too many references");
    pid_t process = helper_process();
    refusals = 201, refusal = EAGAIN; /* of two seconds */
    check_works(queue, "a helper that takes nothing");
    CHECK(helper_process() != process, "the helper that takes nothing stays");
    helper_patience = 60;
    check_taken_number(queue);
}

/* -- helpers that are none ------------------------------------------------------------------------------------------- */

static const char kernel[] = "kernel @twice(%x: buf<f64,1>) {\n"
                             "  %z: i32 = const 0  %v: f64 = load %x[%z]  %w: f64 = add %v, %v  store %x[%z], %w  yield\n"
                             "}\n";

/* The kernel as code generators take it; the caller frees its module. */
static const ir_fn *
lowered(const ir_fn *source, const target *t, ir_module **out)
{
    ir_fn *fn = NULL;
    diag_list diags = {0};
    pipeline_options options = {.form = RG_FORWARD, .contraction = true, .stage = IR_STAGE_SLOTS, .target = t};
    *out = pipeline_run(source, &options, &diags, &fn);
    CHECK(*out, "%s", diags.text.ptr);
    diag_free(&diags);
    return fn;
}

static void
check_unreadable(rg_status status, diag_list *diags, const char *which, const char *when)
{
    const char *text = diags->text.ptr ? diags->text.ptr : "";
    CHECK(status == RG_DEVICE && strstr(text, "cannot be read") && strstr(text, "twice"), "%s: %s: %s\n%s", when, which,
          rg_status_name(status), text);
    diag_free(diags);
}

/* An answer that makes no sense, to each kind of request: nothing of it is handed on. */
static void
check_readers(const char *when)
{
    diag_list diags = {0};
    ir_module *source = ir_parse(rg_str_of(kernel), "twice.rg", &diags), *host, *gpu, *compiled;
    CHECK(source, "%s", diags.text.ptr);
    const ir_fn *for_host = lowered(source->first, target_host(), &host), *for_gpu = lowered(source->first, &target_nvidia, &gpu);
    const char *name = "twice";
    str code = {0};
    ll_gpu_info info;
    ll_options o = {.noalias = true}, object = {.triple = "x86_64-pc-linux-gnu", .cpu = "x86-64", .features = "", .made = "", .needs = ""},
               ptx = {.noalias = true, .cpu = "sm_90", .triple = "nvptx64-nvidia-cuda"};
    front_c_source c = {.path = "twice.c", .text = RG_STR(twice)};
    front_c_names names = {0};
    rg_status status = process_make(for_host, &o, "twice", &code, &diags);
    check_unreadable(status, &diags, "process_make", when);
    status = process_emit_object(&for_host, &name, 1, &object, "twice", &code, &diags);
    check_unreadable(status, &diags, "process_emit_object", when);
    status = process_emit_ptx_entries(&for_gpu, &name, 1, &ptx, "twice", &code, &info, &diags);
    check_unreadable(status, &diags, "process_emit_ptx_entries", when);
    status = process_has_target(&object, "twice", &diags);
    check_unreadable(status, &diags, "process_has_target", when);
    status = process_list_c(&c, &names, &diags);
    check_unreadable(status, &diags, "process_list_c", when);
    c.kernel = "twice";
    status = process_compile_c(&c, &compiled, &diags);
    check_unreadable(status, &diags, "process_compile_c", when);
    CHECK(!code.len && !compiled, "%s: something is handed on", when);
    str_free(&code);
    ir_module_free(host), ir_module_free(gpu), ir_module_free(source);
}

static void
check_fakes(rg_queue *queue)
{
    static const struct {
        const char *what, *message;
        bool answers;
    } rows[] = {
        {"version", "of another version", false},
        {"greets wrongly", "gibberish", false},
        {"endless", "yyyy", false},
        {"mute", "says nothing", false},
        {"dies", "signal 6", false},
        {"leaves", "ended while it worked", false},
        {"letter", "cannot be read", false},
        {"noise", "cannot be read", true},
        {"zeros", "cannot be read", true},
        {"status", "cannot be read", true},
        {"nothing", "cannot be read", true},
    };
    struct rlimit old, limited;
    helper_end();
    while (wait(NULL) > 0) /* workers of a helper that was killed */
        ;
    helper_patience = 1;
    setenv("RG_COMPILE_PROCESS", fake_path, 1);
    for (size_t i = 0; i < countof(rows); i++) {
        setenv("RG_FAKE", rows[i].what, 1);
        check_fails(queue, twice, RG_DEVICE, rows[i].message, rows[i].what);
        CHECK(helper_process() == 0 || i >= 5, "%s: it is the helper", rows[i].what);
        if (rows[i].answers)
            check_readers(rows[i].what);
        helper_end();
        CHECK(wait(NULL) < 0 && errno == ECHILD, "%s: a process is left", rows[i].what);
    }
    getrlimit(RLIMIT_AS, &old);
    limited = old;
    limited.rlim_cur = (rlim_t)1 << 46;
    setrlimit(RLIMIT_AS, &limited);
    setenv("RG_FAKE", "dies", 1);
    check_fails(queue, twice, RG_OUT_OF_MEMORY, "signal 6", "a helper that dies where memory has a limit");
    setenv("RG_FAKE", "version", 1);
    check_fails(queue, twice, RG_DEVICE, "of another version", "another version where memory has a limit");
    setrlimit(RLIMIT_AS, &old);
    helper_patience = 60;
    setenv("RG_COMPILE_PROCESS", "/nowhere/retrograd-compiler", 1);
    check_fails(queue, twice, RG_DEVICE, "No such file", "a helper that is missing");
    setenv("RG_COMPILE_PROCESS", helper_path, 1);
    check_works(queue, "after helpers that are none");
}

/* -- memory ---------------------------------------------------------------------------------------------------------- */

static jmp_buf failed_jump;

static void
allocation_failed(void *user, size_t bytes)
{
    longjmp(failed_jump, 1);
}

/* Each allocation of this process fails in turn, from the helper's start on. */
static void
check_allocations(void)
{
    front_c_source source = {.path = "source.c", .text = RG_STR(twice)};
    volatile bool done = false;
    volatile long n = 0;
    helper_end();
    const int before = count_descriptors();
    while (!done) {
        if (!setjmp(failed_jump)) {
            front_c_names names;
            diag_list diags = {.text.in = NULL};
            mem_set_handler(allocation_failed, NULL);
            diags.text.in = mem_scratch();
            mem_fail_after(++n);
            rg_status status = process_list_c(&source, &names, &diags);
            mem_fail_after(0);
            CHECK(!status && names.count == 1, "%ld allocations: %s: %s", n, rg_status_name(status), diags.text.ptr);
            done = true;
        }
        mem_set_handler(NULL, NULL);
        helper_end();
    }
    CHECK(n > 3 && count_descriptors() == before, "%ld allocations, %d descriptors, %d before", n, count_descriptors(), before);
}

/* -- the process around it ------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t children_told;

static void
on_child(int number)
{
    children_told++;
}

/* Exit code of `what` in a child, which adopts no one. */
static int
in_child(void (*what)(rg_queue *), rg_queue *queue)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        check_failures = 0;
        what(queue);
        fflush(stdout);
        exit(check_failures != 0);
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}

static void
forked(rg_queue *queue)
{
    CHECK(helper_process() == 0, "the child has its parent's helper");
    check_works(queue, "a child of fork");
    CHECK(helper_process() != 0, "the child has no helper");
}

static void
alone(rg_queue *queue)
{
    check_works(queue, "a child that counts");
    signal(SIGCHLD, on_child);
    int before = children_told;
    pid_t process = helper_process();
    check_works(queue, "a child that is told of children");
    kill(process, SIGKILL);
    check_ended(queue, SIGKILL, RG_DEVICE, "signal 9");
    CHECK(children_told - before <= 1, "%d signals of children", children_told - before); /* of the new helper's start */
    CHECK(wait(NULL) < 0 && errno == ECHILD, "there is a child to wait for");
    signal(SIGCHLD, SIG_IGN);
    helper_end();
    check_works(queue, "a process that ignores its children");
}

/* Its descriptors are closed, and the number is another's. */
static void
closing(rg_queue *queue)
{
    int ends[2], spares[64];
    char byte;
    check_works(queue, "before descriptors are closed");
    for (int i = 3; i < 256; i++)
        close(i);
    CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), "no socket");
    for (size_t i = 0; i < countof(spares); i++)
        spares[i] = dup(ends[0]);
    check_works(queue, "descriptors that were closed");
    helper_end();
    CHECK(recv(ends[1], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "the helper's packets go to somebody else");
    for (size_t i = 0; i < countof(spares); i++)
        CHECK(!close(spares[i]), "descriptor %d was closed", spares[i]);
}

static void *
compile_often(void *failed)
{
    rg_queue *queue = open_queue();
    rg_status status;
    for (int i = 0; i < 4; i++) {
        const char *wrong = launch(queue, twice, &status);
        if (wrong)
            fprintf(stderr, "%s\n", wrong);
        *(int *)failed += wrong != NULL;
    }
    rg_queue_destroy(queue);
    return NULL;
}

static void
check_threads(void)
{
    pthread_t threads[6];
    int failed[countof(threads)] = {0};
    for (size_t i = 0; i < countof(threads); i++)
        pthread_create(&threads[i], NULL, compile_often, &failed[i]);
    for (size_t i = 0; i < countof(threads); i++) {
        pthread_join(threads[i], NULL);
        CHECK(!failed[i], "%d of thread %zu's compilations failed", failed[i], i);
    }
}

/* A request under way is its parent's. */
static void
check_fork_at_work(rg_queue *queue)
{
    compilation c;
    pid_t worker = begin_compilation(&c, queue);
    int status = in_child(forked, queue);
    CHECK(status == 0, "a child of fork while the parent compiles: %d", status);
    end_worker(worker, SIGABRT, &c);
    CHECK(c.status == RG_DEVICE, "%s: %s", rg_status_name(c.status), c.message);
}

int
main(int argc, char **argv)
{
    char folder[FOLDER_BYTES];
    helper_path = argv[1], fake_path = argv[2];
    setenv("RG_COMPILE_PROCESS", helper_path, 1);
    signal(SIGPIPE, SIG_DFL);
    if (argc != 3 || !folder_begin(folder, "process_test"))
        return 1;
    snprintf(fifo, sizeof fifo, "%s/waits.h", folder);
    snprintf(waits, sizeof waits, "#include \"%s\"\n%s", fifo, twice);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* whoever is left comes here */
    rg_queue *queue = open_queue();
    int before = count_descriptors();
    if (mkfifo(fifo, 0600))
        return 1;
    check_works(queue, "at first");
    CHECK(count_descriptors() == before + 1, "%d descriptors, %d before", count_descriptors(), before);
    check_fails(queue, "void twice(int n, double x[n]) { x[0] = thrice(n); }", RG_COMPILE, "thrice", "a diagnostic");
    check_signals(queue);
    check_killed(queue);
    check_shortage(queue);
    check_fakes(queue);
    check_allocations();
    check_threads();
    CHECK(in_child(forked, queue) == 0, "a child of fork");
    check_works(queue, "after a fork");
    check_fork_at_work(queue);
    CHECK(in_child(alone, queue) == 0, "a child");
    CHECK(in_child(closing, queue) == 0, "a child that closes descriptors");
    check_works(queue, "at last");
    helper_end();
    CHECK(count_descriptors() == before, "%d descriptors, %d before", count_descriptors(), before);
    while (wait(NULL) > 0) /* a helper that stays would be waited for until the test's time is up */
        ;
    rg_queue_destroy(queue);
    CHECK(folder_end(folder), "%s", folder);
    return check_done();
}

/* Calls that Ctrl-C ends. SPDX-License-Identifier: Apache-2.0
 *
 * During a call of the main thread SIGINT is ours: the signal ends the call and is passed on to whoever has it at other times,
 * usually to Python, which only notes it. Afterwards it is put back. So nothing is lost if the program sets a handler at any time. */
#include "core.h"

#include <errno.h>
#include <signal.h>

static unsigned long main_thread;
static rg_queue *volatile interruptible; /* of the main thread's innermost call; NULL: it is in none */
static struct sigaction before;
static volatile sig_atomic_t before_is_known, came; /* came: in the call */

static void
pass_on(int signal, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal, info, context);
    else
        before.sa_handler(signal);
}

static void
interrupt(int signal, siginfo_t *info, void *context)
{
    int kept = errno;
    rg_queue *q = interruptible;
    came = 1;
    if (q)
        rg_queue_cancel(q);
    if (before_is_known)
        pass_on(signal, info, context);
    errno = kept;
}

/* Whether SIGINT is ours now: not if nobody handles it. One that comes before we know whose it is comes again. */
static bool
take_signal(void)
{
    struct sigaction mine = {.sa_sigaction = interrupt, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    before_is_known = came = 0;
    if (sigaction(SIGINT, &mine, &before))
        return false;
    bool handled = (before.sa_flags & SA_SIGINFO) || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
    before_is_known = handled;
    if (!handled)
        sigaction(SIGINT, &before, NULL);
    if (came)
        raise(SIGINT);
    return handled;
}

static void
give_signal_back(void)
{
    interruptible = NULL;
    sigaction(SIGINT, &before, NULL);
}

/* In the child of a fork its only thread is the main one. */
static void
after_fork(void)
{
    unsigned long me = PyThread_get_thread_ident();
    if (me != main_thread && interruptible)
        give_signal_back();
    main_thread = me;
}

rg_status
core_run(core_queue *q, rg_status (*call)(void *user), void *user)
{
    rg_status status = RG_CANCELLED;
    rg_queue *outer = interruptible; /* a host function on a tape, or a progress callback, calls again */
    bool on_main = PyThread_get_thread_ident() == main_thread, ours = on_main && (outer || take_signal());
    if (ours)
        interruptible = q->queue;
    if (!ours || PyErr_CheckSignals() == 0) { /* one that came before it was ours has only been noted */
        Py_BEGIN_ALLOW_THREADS
        status = call(user);
        Py_END_ALLOW_THREADS
    }
    if (ours && outer)
        interruptible = outer;
    else if (ours)
        give_signal_back();
    return status;
}

typedef struct launching {
    rg_queue *queue;
    rg_args *args;
    rg_form form;
} launching;

static rg_status
launch(void *user)
{
    launching *l = user;
    return rg_launch(l->queue, l->args, l->form);
}

rg_status
core_launch(core_queue *q, rg_args *args, rg_form form)
{
    launching l = {q->queue, args, form};
    return core_run(q, launch, &l);
}

int
core_add_interrupts(void)
{
    PyObject *threading = PyImport_ImportModule("threading"), *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    main_thread = ident ? PyLong_AsUnsignedLong(ident) : 0;
    Py_XDECREF(threading);
    Py_XDECREF(thread);
    Py_XDECREF(ident);
    return PyErr_Occurred() ? -1 : pthread_atfork(NULL, NULL, after_fork);
}

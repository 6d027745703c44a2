/* Fibers. SPDX-License-Identifier: Apache-2.0
 *
 * A switch saves the registers that a called function has to keep on the stack that is left, and takes them from the
 * other. The floating-point environment is the host thread's. Other machines use ucontext. */
#include "rt/simt/fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#endif

#ifdef HAVE_ASAN
enum { STACK = 1 << 19, GUARD = 1 << 14 };
#else
enum { STACK = 1 << 18, GUARD = 1 << 14 };
#endif

char *
rt_fiber_stacks(size_t count)
{
    char *stacks = mmap(NULL, count * (STACK + GUARD), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (mprotect(stacks + i * (STACK + GUARD), GUARD, PROT_NONE)) {
            munmap(stacks, count * (STACK + GUARD));
            return NULL;
        }
    return stacks;
}

void
rt_fiber_stacks_free(char *stacks, size_t count)
{
    if (stacks)
        munmap(stacks, count * (STACK + GUARD));
}

/* the lowest address */
static char *
stack_of(char *stacks, size_t i)
{
    char *stack = stacks + i * (STACK + GUARD) + GUARD;
#ifdef HAVE_ASAN
    /* what a fiber that was left for good had on its stack */
    __asan_unpoison_memory_region(stack, STACK);
#endif
    return stack;
}

#ifdef RT_FIBER_JUMPS

void rt_fiber_jump(void **from, void *to);
void rt_fiber_first(void);

#ifdef __x86_64__
__asm__(".text\n"
        ".globl rt_fiber_jump\n.hidden rt_fiber_jump\n.type rt_fiber_jump, @function\n"
        "rt_fiber_jump:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size rt_fiber_jump, . - rt_fiber_jump\n"
        ".globl rt_fiber_first\n.hidden rt_fiber_first\n.type rt_fiber_first, @function\n"
        "rt_fiber_first:\n"
        "    movq %r12, %rdi\n"
        "    callq *%rbx\n"
        "    ud2\n"
        ".size rt_fiber_first, . - rt_fiber_first\n");

void
rt_fiber_begin(rt_fiber *fiber, char *stacks, size_t i, void (*body)(void *data), void *data)
{
    /* r15 r14 r13 r12 rbx rbp, where to return; the stack is then aligned as before a call */
    void **at = (void **)(void *)(stack_of(stacks, i) + STACK) - 9;
    memset(at, 0, 9 * sizeof *at);
    at[3] = data;
    memcpy(&at[4], &body, sizeof body);
    void (*first)(void) = rt_fiber_first;
    memcpy(&at[6], &first, sizeof first);
    fiber->at = at;
}
#else
__asm__(".text\n"
        ".globl rt_fiber_jump\n.hidden rt_fiber_jump\n.type rt_fiber_jump, %function\n"
        "rt_fiber_jump:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size rt_fiber_jump, . - rt_fiber_jump\n"
        ".globl rt_fiber_first\n.hidden rt_fiber_first\n.type rt_fiber_first, %function\n"
        "rt_fiber_first:\n"
        "    mov x0, x19\n"
        "    blr x20\n"
        "    brk #1\n"
        ".size rt_fiber_first, . - rt_fiber_first\n");

void
rt_fiber_begin(rt_fiber *fiber, char *stacks, size_t i, void (*body)(void *data), void *data)
{
    void **at = (void **)(void *)(stack_of(stacks, i) + STACK) - 20;
    memset(at, 0, 20 * sizeof *at);
    at[0] = data; /* x19 */
    memcpy(&at[1], &body, sizeof body);
    void (*first)(void) = rt_fiber_first;
    memcpy(&at[11], &first, sizeof first); /* x30 */
    fiber->at = at;
}
#endif

void
rt_fiber_switch(rt_fiber *from, rt_fiber *to)
{
    rt_fiber_jump(&from->at, to->at);
}

#else

static void
begin_context(unsigned high_body, unsigned low_body, unsigned high_data, unsigned low_data)
{
    uintptr_t body = (uintptr_t)((uint64_t)high_body << 32 | low_body);
    uintptr_t data = (uintptr_t)((uint64_t)high_data << 32 | low_data);
    ((void (*)(void *))body)((void *)data);
}

void
rt_fiber_begin(rt_fiber *fiber, char *stacks, size_t i, void (*body)(void *data), void *data)
{
    uint64_t f = (uint64_t)(uintptr_t)body, d = (uint64_t)(uintptr_t)data;
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = stack_of(stacks, i);
    fiber->context.uc_stack.ss_size = STACK;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, (void (*)(void))begin_context, 4, (unsigned)(f >> 32), (unsigned)f,
                (unsigned)(d >> 32), (unsigned)d);
}

void
rt_fiber_switch(rt_fiber *from, rt_fiber *to)
{
    swapcontext(&from->context, &to->context);
}
#endif

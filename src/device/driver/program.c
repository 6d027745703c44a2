/* From a kernel's form to code on the GPU. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/memory.h"

enum { LOG = 8192, NAME = 64, PROGRAMS = UINT16_MAX,
       OWN_MEMORY = 2 /* pieces of a program's for each queue: its record, its arguments */ };

/* -- code ---------------------------------------------------------------------------------------------------------- */

/* what GPUs take for a name, near to the kernel's, so that profilers show something known */
static void
entry_name(const ir_fn *fn, char name[NAME])
{
    size_t n = (size_t)snprintf(name, NAME, "%s", fn->name ? fn->name : "kernel");
    for (size_t i = 0; i < n && i < NAME - 1; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(i && c >= '0' && c <= '9'))
            name[i] = i ? '_' : 'k';
    }
}

typedef struct made {
    ll_gpu_info info;
    rt_needs needs;
} made;

static void
release_parts(void *object)
{
    made *m = object;
    ll_gpu_info_free(&m->info);
    rt_needs_free(&m->needs);
}

rg_status
rt_driver_make(rt_device *d, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags)
{
    char name[NAME];
    str image = {.in = mem_scratch()};
    made m = {0};
    mem_owner owns;
    mem_own(&owns, release_parts, &m);
    entry_name(desc->fn, name);
    rg_status status = d->driver.maker->emit(d, desc, name, &image, &m.info, diags);
    if (!status) {
        rt_needs_make(&m.needs, desc->fn);
        bytes_put(code, rg_str_of(name));
        bytes_put_u32(code, d->driver.maker->by_value(desc->fn));
        ll_gpu_info_write(code, &m.info);
        rt_needs_write(&m.needs, code);
        bytes_put(code, str_view(&image));
    }
    mem_disown(&owns);
    release_parts(&m);
    return status;
}

bool
rt_driver_describe(rt_device *d, const rt_program_desc *desc, str *key)
{
    str_addz(key, d->code);
    return d->driver.maker->describe(d, desc, key);
}

static void
driver_said(rt_program *p, diag_list *diags, int code, const char *doing, const char *log)
{
    rt_device *d = p->device;
    str text = {.in = mem_scratch()};
    rt_driver_check(d, code, doing, &text);
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s: %s%s%s", p->label, text.ptr, *log ? "\n" : "", log);
}

/* RG_DEBUG=gpu */
static void
show(const rt_program *p, const char *name, double since)
{
    int registers = 0, own = 0;
    if (!p->device->settings.gpu)
        return;
    p->device->driver.function_attribute(&registers, RT_FUNCTION_REGISTERS, p->function);
    p->device->driver.function_attribute(&own, RT_FUNCTION_LOCAL, p->function);
    fprintf(stderr, "gpu: %s: %d registers, %d bytes of each thread's own, blocks of %u warps, %u warps a multiprocessor",
            name, registers, own, p->block, p->resident / p->device->processors);
    fprintf(stderr, "%s%s, loaded in %.1f ms\n", p->info.waits ? ", waits" : "", p->info.has_tape ? ", tape" : "",
            clock_ms() - since);
}

/* Of blocks with which a multiprocessor runs the most threads, the largest: its warps share out among themselves what it
 * has to run. */
static int
choose_block(rt_program *p)
{
    const int wave = (int)p->device->wave, step = RT_GPU_PARTS * wave;
    int most = 0, threads = 0, code = p->device->driver.function_attribute(&threads, RT_FUNCTION_THREADS, p->function);
    if (threads > step)
        threads -= threads % step;
    for (; threads > 0 && !code; threads -= step) {
        int blocks = 0;
        code = p->device->driver.occupancy(&blocks, p->function, threads, 0);
        if (blocks * threads <= most)
            continue;
        most = blocks * threads;
        p->block = (uint32_t)(threads / wave);
    }
    p->resident = (uint32_t)(most / wave) * p->device->processors;
    if (p->resident > p->device->warps)
        p->resident = p->device->warps / p->block * p->block;
    return code;
}

static void
unload_module(rt_device *d, rt_module module)
{
    if (module.handle)
        d->driver.module_unload(module.handle);
    mem_free(module.image);
}

/* Of PTX the driver's compiler makes the GPU's own code. */
static int
load_module(rt_program *p, rg_str image, char log[LOG])
{
    rt_device *d = p->device;
    const rt_maker *maker = d->driver.maker;
    void *values[] = {log, (void *)(uintptr_t)(LOG - 1), (void *)(uintptr_t)4};
    const char *text;
    if (maker->keeps_image)
        text = p->module.image = memcpy(mem_alloc(image.len), image.ptr, image.len);
    else
        text = arena_str(mem_scratch(), image); /* with a zero behind it */
    int code = d->driver.module_load(&p->module.handle, text, maker->log_options ? countof(values) : 0, maker->log_options, values);
    if (code) {
        mem_free(p->module.image);
        p->module = (rt_module){0};
    }
    if (code == maker->wrong_code && !*log) {
        str said = {.in = mem_scratch()};
        rt_driver_name(&d->driver, &said);
        snprintf(log, LOG, "%s: %s", said.ptr, maker->code_advice);
    }
    return code;
}

static rg_status
load(rt_program *p, rg_str image, const char *name, diag_list *diags)
{
    rt_device *d = p->device;
    char log[LOG] = "";
    double since = clock_ms();
    int code = load_module(p, image, log);
    if (code) {
        driver_said(p, diags, code, "load the code on the GPU", log);
        return code == RT_DRIVER_OUT_OF_MEMORY ? RG_OUT_OF_MEMORY : rt_driver_is_lost(d) ? RG_DEVICE : RG_COMPILE;
    }
    code = d->driver.module_function(&p->function, p->module.handle, name);
    if (!code)
        code = choose_block(p);
    if (code) {
        driver_said(p, diags, code, "use the code on the GPU", "");
        return RG_DEVICE;
    }
    if (!p->resident) {
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s: no block of it fits a multiprocessor of the GPU", p->label);
        return RG_UNSUPPORTED;
    }
    show(p, name, since);
    return RG_OK;
}

/* -- seats --------------------------------------------------------------------------------------------------------- */

static rg_status
make_record(rt_queue *q, const rt_program *p, rt_seat *seat, str *error)
{
    rt_device *d = q->device;
    if (p->info.prints)
        TRY(rt_driver_prints_open(q, error));
    TRY(rt_driver_take(q, sizeof(rt_gpu_launch), q->side, &seat->record, error));
    if (!p->by_value)
        TRY(rt_driver_take(q, p->nparams * sizeof(rt_arg), q->side, &seat->args, error));
    rt_gpu_launch record = {
        .pool = (char *)(uintptr_t)q->tape.address,
        .pages = q->tape.mapped / RT_GPU_PAGE,
        .tape_pages = q->tape.budget / RT_GPU_PAGE,
        .budget = q->tape.budget,
        .report = (rt_gpu_report *)(uintptr_t)q->report_address,
        .prints = p->info.prints ? (rt_gpu_prints *)(uintptr_t)q->prints_address : NULL,
        .partials = (uint64_t *)(uintptr_t)q->partials,
        .again = (uint64_t *)(uintptr_t)q->again,
        .program = p->number,
    };
    int code = d->driver.write(seat->record, &record, sizeof(record), q->side);
    if (!code)
        code = d->driver.stream_wait(q->side);
    return rt_driver_check(d, code, "write device memory", error);
}

/* Room in the lists of what is given back later, for the seat too. */
static void
reserve_seat(rt_queue *q, const rt_program *p)
{
    while (q->seats.n <= p->number)
        vec_push(&q->seats, ((rt_seat){0}));
    rt_driver_make_room(q->device, OWN_MEMORY);
}

rg_status
rt_driver_take_seat(rt_queue *q, rt_program *p, rt_seat *seat, str *error)
{
    rg_status status = RG_OK;
    int mode = RT_CAPTURE_RELAXED;
    if (p->number >= q->seats.n || !q->seats.at[p->number].record) {
        reserve_seat(q, p);
        rt_driver_watch(q->device, &mode);
        rt_seat made = {0};
        status = make_record(q, p, &made, error);
        rt_driver_watch(q->device, &mode);
        if (status && !made.record)
            rt_driver_give_room(q->device, OWN_MEMORY);
        if (status)
            rt_driver_give_seat(q, &made);
        else
            q->seats.at[p->number] = made;
    }
    if (!status)
        *seat = q->seats.at[p->number];
    return status;
}

void
rt_driver_give_seat(rt_queue *q, rt_seat *seat)
{
    uint64_t memory[OWN_MEMORY] = {seat->record, seat->args};
    for (size_t i = 0; i < countof(memory); i++)
        if (memory[i])
            rt_driver_give_own(q, memory[i]);
    if (seat->record)
        rt_driver_give_room(q->device, OWN_MEMORY);
    *seat = (rt_seat){0};
}

/* -- numbers ------------------------------------------------------------------------------------------------------- */

const rt_program *
rt_driver_program(rt_device *d, uint32_t number)
{
    pthread_mutex_lock(&d->lock);
    const rt_program *p = number < d->programs.n ? d->programs.at[number] : NULL;
    pthread_mutex_unlock(&d->lock);
    return p;
}

/* The first number that is free, and room in the lists of what a release may have to put off. */
static rg_status
take_number(rt_program *p, diag_list *diags)
{
    rt_device *d = p->device;
    size_t n = 0;
    mem_owner locks;
    pthread_mutex_lock(&d->lock);
    mem_own(&locks, mem_release_mutex, &d->lock);
    vec_reserve(&d->later_modules, d->later_modules.n + d->loaded + 1);
    while (n < d->programs.n && d->programs.at[n])
        n++;
    if (n < PROGRAMS && n == d->programs.n)
        vec_push(&d->programs, p);
    if (n < PROGRAMS) {
        d->programs.at[n] = p;
        d->loaded++;
        p->number = (uint32_t)n;
        p->numbered = true;
    }
    mem_disown(&locks);
    pthread_mutex_unlock(&d->lock);
    if (!p->numbered)
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "the device has %d compiled kernels: it takes no more", PROGRAMS);
    return p->numbered ? RG_OK : RG_UNSUPPORTED;
}

static void
give_number(rt_program *p)
{
    rt_device *d = p->device;
    pthread_mutex_lock(&d->lock);
    d->programs.at[p->number] = NULL;
    d->loaded--;
    pthread_mutex_unlock(&d->lock);
}

/* -- making and releasing ------------------------------------------------------------------------------------------ */

/* What rt_driver_make wrote; false: it is damaged. */
static bool
read_code(rt_program *p, rg_str code, const char **name, rg_str *image)
{
    bytes_reader r = bytes_of(code);
    ll_gpu_info_free(&p->info);
    rt_needs_free(&p->needs);
    *name = bytes_text(&r, mem_scratch());
    p->by_value = bytes_u32(&r);
    ll_gpu_info_read(&r, &p->info);
    rt_needs_read(&r, p->nparams, &p->needs);
    *image = bytes_str(&r);
    return bytes_done(&r) && *name && image->ptr;
}

/* What was kept and cannot be loaded is made anew. */
static rg_status
load_code(rt_program *p, const rt_program_desc *desc, unsigned wanted, bool *kept, diag_list *diags)
{
    rt_device *d = p->device;
    const char *name;
    rg_str image;
    str code = {.in = mem_scratch()};
    TRY(rt_program_code(d->driver.maker->table, d, desc, wanted, &code, kept, diags));
    if (!read_code(p, str_view(&code), &name, &image)) {
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "the code is damaged");
        return RG_COMPILE;
    }
    int mode = RT_CAPTURE_RELAXED;
    rt_driver_watch(d, &mode);
    rg_status status = load(p, image, name, diags);
    rt_driver_watch(d, &mode);
    return status;
}

static rg_status
build(rt_program *p, const rt_program_desc *desc, diag_list *diags)
{
    bool kept;
    TRY(take_number(p, diags));
    rg_status status = load_code(p, desc, 0, &kept, diags);
    if (status != RG_COMPILE || !kept)
        return status;
    diag_free(diags);
    return load_code(p, desc, RT_CODE_ANEW, &kept, diags);
}

static void
release_program(void *program)
{
    rt_driver_release(program);
}

rg_status
rt_driver_compile(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    rt_entry entry;
    str error = {.in = mem_scratch()};
    rg_status status = rt_driver_enter_device(&entry, d, &error);
    if (status) {
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s", error.ptr);
    } else {
        rt_program *p = mem_zalloc(sizeof(*p));
        mem_owner owns;
        mem_own(&owns, release_program, p);
        p->device = d;
        p->label = rt_program_label(desc);
        p->file = rt_program_file(desc);
        p->nparams = rt_program_params(desc);
        status = build(p, desc, diags);
        mem_disown(&owns);
        if (status)
            rt_driver_release(p);
        else
            *program = p;
    }
    rt_driver_leave(&entry);
    return status;
}

void
rt_driver_make_room(rt_device *d, size_t more)
{
    mem_owner locks;
    pthread_mutex_lock(&d->lock);
    mem_own(&locks, mem_release_mutex, &d->lock);
    d->promised += more;
    vec_reserve(&d->later_args, d->later_args.n + d->promised);
    mem_disown(&locks);
    pthread_mutex_unlock(&d->lock);
}

void
rt_driver_give_room(rt_device *d, size_t less)
{
    pthread_mutex_lock(&d->lock);
    d->promised -= less;
    pthread_mutex_unlock(&d->lock);
}

bool
rt_driver_has_args(rt_device *d)
{
    pthread_mutex_lock(&d->lock);
    bool any = d->later_args.n > 0;
    pthread_mutex_unlock(&d->lock);
    return any;
}

void
rt_driver_give_args(rt_device *d, uint64_t address)
{
    pthread_mutex_lock(&d->lock);
    d->later_args.at[d->later_args.n++] = address;
    d->promised--;
    __atomic_store_n(&d->waits, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->lock);
}

/* One thing of a list that was put off; false: there is no more. */
static bool
pop_later(rt_device *d, rt_module *module, uint64_t *args)
{
    *module = (rt_module){0};
    *args = 0;
    pthread_mutex_lock(&d->lock);
    bool may = !d->graphs && !d->captured, any = may && (d->later_modules.n || d->later_args.n);
    if (any && d->later_modules.n)
        *module = vec_pop(&d->later_modules);
    else if (any)
        *args = vec_pop(&d->later_args);
    pthread_mutex_unlock(&d->lock);
    return any;
}

bool
rt_driver_unload_later(rt_device *d)
{
    rt_module module;
    uint64_t args;
    while (pop_later(d, &module, &args)) {
        unload_module(d, module);
        if (args)
            rt_driver_give_now(d, args);
    }
    return !d->graphs && !d->captured;
}

/* In one queue: its launches must have ended, and what they have to say been read while their places are known. */
static void
leave_seat(rt_queue *q, const rt_program *p, bool keep)
{
    rt_device *d = q->device;
    rt_entry entry;
    rt_driver_enter_to_release(&entry, d, q);
    rt_seat seat = p->number < q->seats.n ? q->seats.at[p->number] : (rt_seat){0};
    if (seat.record) {
        if (!rt_driver_records(q))
            rt_driver_settle(q);
        uint64_t memory[OWN_MEMORY] = {seat.record, seat.args};
        for (size_t i = 0; i < countof(memory) && keep; i++)
            if (memory[i])
                rt_driver_give_args(d, memory[i]);
            else
                rt_driver_give_room(d, 1);
        if (!keep)
            rt_driver_give_seat(q, &seat);
        q->seats.at[p->number] = (rt_seat){0};
    }
    rt_driver_leave(&entry);
}

static void
unload(rt_program *p)
{
    rt_device *d = p->device;
    pthread_mutex_lock(&d->queues_lock);
    bool keep = d->graphs || d->captured || rt_driver_any_records(d);
    for (size_t i = 0; i < d->queues.n; i++)
        leave_seat(d->queues.at[i], p, keep);
    if (p->module.handle && keep) {
        pthread_mutex_lock(&d->lock);
        d->later_modules.at[d->later_modules.n++] = p->module;
        __atomic_store_n(&d->waits, true, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&d->lock);
    } else {
        unload_module(d, p->module);
    }
    pthread_mutex_unlock(&d->queues_lock);
}

void
rt_driver_release(rt_program *p)
{
    rt_entry entry;
    rt_driver_enter_to_release(&entry, p->device, NULL);
    if (p->numbered) {
        unload(p);
        give_number(p);
    }
    rt_driver_leave(&entry);
    rt_driver_forget_launches(p->device, p->label);
    rt_needs_free(&p->needs);
    ll_gpu_info_free(&p->info);
    mem_free(p);
}

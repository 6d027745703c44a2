/* Inside the devices that have a driver, "cuda" and "amd": what their files share. SPDX-License-Identifier: Apache-2.0
 *
 * Everything that a queue does is done in its stream; what its programs need before they run is made in its stream
 * `side` and waited for. Of the rest nothing waits but what says so. What goes wrong on the device is found in the queue's
 * report (rt/gpu/launch.h) that lies in the host's memory and is read after each wait.
 *
 * For each queue that runs it a program has a seat: a rt_gpu_launch of its own, so that reports say whose they are. The pool
 * of tape pages and all else that these records point to is the queue's: its launches run one after the other.
 *
 * Locks, in this order: device.queues_lock, queue.lock, device.lock. A queue's is held while something is done with it, by its
 * own thread, or by one that releases a program or pinned memory. */
#ifndef RT_DRIVER_GPU_H
#define RT_DRIVER_GPU_H

#include "base/settings.h"
#include "codegen/llvm/ll.h"
#include "device/driver/maker.h"
#include "device/driver/needs.h"
#include "device/device.h"
#include "rt/gpu/launch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/* A piece of pinned memory on the way to or from the device. */
typedef struct rt_stage {
    char *memory;
    size_t used;  /* bytes that are being written from */
    void *event;  /* if pending: they have been */
    bool pending;
} rt_stage;

/* Pinned memory for a copy of an array's on the host. */
typedef struct rt_pinned {
    char *memory;
    size_t bytes;
    bool used;
} rt_pinned;

/* The pool of tape pages and temporary arrays: addresses for all memory of the GPU, memory behind the first `mapped`
 * bytes of them. Where the driver cannot do that, memory that is taken anew when there is to be more. */
typedef struct rt_tape {
    uint64_t most;   /* that the pool may take: the GPU's memory */
    uint64_t budget; /* that tapes may take of it */
    uint64_t mapped, refused; /* refused: the GPU had no room for so many, or 0 */
    int32_t patience;         /* launches until it is asked again */
    uint64_t address;  /* aligned to a page */
    uint64_t memory;   /* what the driver gave */
    uint64_t reserved; /* 0: no addresses without memory */
    size_t step;       /* memory comes in multiples of it */
    vec(struct { uint64_t handle; uint64_t bytes; }) parts;
} rt_tape;

/* Code on the GPU. */
typedef struct rt_module {
    void *handle; /* NULL: none */
    char *image;  /* what it was loaded from, where that must stay */
} rt_module;

struct rt_device {
    rt_driver driver;
    int device;
    unsigned processors, warps; /* warps: resident at most */
    unsigned wave;              /* threads of the GPU's that a warp is: 32, or 64 of which half do something */
    int generation;             /* cuda: 90 is sm_90 */
    uint8_t uuid[16];           /* zeros: unknown */
    char model[96], code[32];   /* code: what it is made for, "sm_90" */
    void *context, *side, *pool; /* context: cuda; side: where memory is given back that several queues may have used */
    bool opened;
    settings settings;
    str libdevice; /* cuda: path; empty: not found */
    unsigned forks; /* that this process had behind it when the device was opened */
    pthread_mutex_t queues_lock; /* of `queues` */
    vec(rt_queue *) queues;
    uint32_t recorders;         /* queues that record by themselves; atomic */
    pthread_mutex_t lock;       /* of what follows; while it is held nothing is waited for */
    vec(rt_program *) programs; /* by number; NULL: free */
    uint32_t graphs;            /* alive */
    bool captured;              /* a caller has captured launches: his graphs are not known, and keep what they use for good */
    bool waits;                 /* something is in the three lists below that are to be given back later */
    size_t taken;               /* pieces of memory that are not given back yet */
    vec(uint64_t) later_memory; /* to be given back when nothing is recorded; room for all */
    size_t loaded;              /* programs that are not released yet */
    vec(rt_module) later_modules; /* ... when no graph is left either; room for all programs' */
    size_t promised;            /* room that is kept in ... */
    vec(uint64_t) later_args;   /* the same: records, and arguments of recorded launches that are not passed by value */
    const char *last;           /* label of the last program launched since a wait */
    bool several;               /* others were, too */
    const char *lost;           /* why nothing works any more; NULL: it does */
    char lost_text[1024];       /* what `lost` may point to */
};

/* What a queue has of a program. */
typedef struct rt_seat {
    uint64_t record; /* rt_gpu_launch; 0: it has not been launched here */
    uint64_t args;   /* arguments that are too many to be passed by value; 0: they are */
} rt_seat;

struct rt_queue {
    rt_device *device;
    pthread_mutex_t lock;
    void *own, *stream, *side; /* stream: own, or the caller's */
    bool recording;            /* by us, or by the caller whose stream it is */
    void *behind;              /* event: other streams wait for what was given until then */
    void *launched;            /* event in a stream of the caller's: behind all launches that are not recorded */
    rt_graph *next_graph;      /* room for what is being recorded */
    rt_stage stage[2];
    unsigned now; /* the one that is filled */
    vec(rt_pinned) pinned;
    rt_tape tape;
    uint64_t partials, again;  /* rt_gpu_launch's */
    rt_gpu_report *report;     /* as the host sees it; NULL: not made yet */
    uint64_t report_address;   /* as the device does */
    atomic_bool pending;       /* something was launched since a wait */
    rt_gpu_prints *prints;     /* NULL: no program prints */
    uint64_t prints_address;
    rt_sink sink;
    bool printing;             /* a program that prints was launched since a wait */
    vec(rt_seat) seats;        /* by the number of the program */
    rg_status failed;          /* of an earlier launch, not told yet */
    str failure;
};

struct rt_program {
    rt_device *device;
    const char *label, *file;
    uint32_t number, nparams;
    bool numbered, by_value; /* it takes its arguments by value */
    rt_module module;
    void *function;
    ll_gpu_info info;
    uint32_t block, resident; /* warps of a block; that run at once */
    rt_needs needs;
};

/* -- device.c */

/* The device is the calling thread's between these two, and the queue, if there is one, nobody else's. RG_DEVICE,
 * with a text: the device is lost. Leave in any case. `error` may be NULL. */
struct rt_entry {
    rt_device *device;
    rt_queue *queue;
    bool changed, relaxed; /* changed: the thread had another device; relaxed: other streams of it may record, which `mode` is for */
    int before, mode;      /* before: that other one (amd) */
    mem_owner leaves;
};
rg_status rt_driver_enter(rt_entry *entry, rt_queue *q, str *error);
rg_status rt_driver_enter_device(rt_entry *entry, rt_device *d, str *error);
/* ... also of a device that is lost: its driver then refuses what it is asked, which no longer matters; q may be NULL */
void rt_driver_enter_to_release(rt_entry *entry, rt_device *d, rt_queue *q);
void rt_driver_leave(rt_entry *entry);
/* What had to wait while launches were recorded, if nobody records any more. Not within an entry. */
void rt_driver_catch_up(rt_device *d);
/* While launches are recorded the driver refuses whatever might disturb them: called before and after what does not, with
 * RT_CAPTURE_RELAXED and then with what that became. */
void rt_driver_watch(rt_device *d, int *mode);
/* code 0: RG_OK. Else adds "cannot DOING: NAME (text)", and remembers it if the device is lost. */
rg_status rt_driver_check(rt_device *d, int code, const char *doing, str *error);
bool rt_driver_is_lost(rt_device *d);
/* A program was launched; all launches of a queue have ended. */
void rt_driver_note_launch(rt_device *d, const char *label);
void rt_driver_forget_launches(rt_device *d, const char *label);
rg_status rt_driver_look(const rt_maker *maker, uint32_t ordinal, rt_device_facts *facts, str *error);
rg_status rt_driver_open(const rt_maker *maker, uint32_t ordinal, rt_device **device, str *error);
void rt_driver_close(rt_device *d);

/* -- queue.c */

rg_status rt_driver_open_queue(rt_device *d, const rt_queue_desc *desc, rt_queue **queue, str *error);
void rt_driver_close_queue(rt_queue *q);
/* Whether launches in the queue's stream are recorded, by us or by the caller whose stream it is. */
bool rt_driver_records(rt_queue *q);
/* Whether they are in any queue. The caller holds queues_lock. */
bool rt_driver_any_records(rt_device *d);
/* A stream in which something may be done behind all that the device was given. The caller holds queues_lock. */
void *rt_driver_behind_all(rt_device *d);
/* What `act` puts into q's stream comes behind all that the queues of another GPU were given, and before what they are given
 * later. None of them records launches. The caller holds the other GPU's queues_lock. */
int rt_driver_put_between(rt_queue *q, rt_device *other, int (*act)(rt_queue *q, void *user), void *user);
extern const rt_stream_table rt_driver_streams;

/* -- tape.c */

rg_status rt_driver_tape_open(rt_queue *q, uint64_t budget, str *error);
void rt_driver_tape_close(rt_queue *q);
/* At least so many bytes, or what can be had. Waits if it grows. */
rg_status rt_driver_tape_grow(rt_queue *q, uint64_t bytes, str *error);
/* Twice as many, within the budget, if a launch has used half of what there is: loops drop frames before it is all. */
rg_status rt_driver_tape_follow(rt_queue *q, str *error);

/* -- report.c */

rg_status rt_driver_report_open(rt_queue *q, str *error);
void rt_driver_report_close(rt_queue *q);
rg_status rt_driver_prints_open(rt_queue *q, str *error); /* once; the first program that prints asks for it */
/* Waits for all launches, also where the caller's stream is no more; the driver's code. */
int rt_driver_wait_for_stream(rt_queue *q);
/* ... and tells what went wrong. */
rg_status rt_driver_wait(rt_queue *q, str *error);
/* Whether the next wait has something to tell, or a launch that is cancelled may still run. */
bool rt_driver_has_news(rt_queue *q);
void rt_driver_cancel(rt_queue *q);
/* the same; what went wrong is kept for the next call that can tell */
void rt_driver_settle(rt_queue *q);
uint64_t rt_driver_tape_peak(rt_queue *q);

/* -- program.c */

rg_status rt_driver_compile(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags);
rg_status rt_driver_make(rt_device *d, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags);
bool rt_driver_describe(rt_device *d, const rt_program_desc *desc, str *key);
void rt_driver_release(rt_program *program);
/* NULL: none of that number, or not any more */
const rt_program *rt_driver_program(rt_device *d, uint32_t number);
/* What the queue needs to launch the program, made at the first launch. */
rg_status rt_driver_take_seat(rt_queue *q, rt_program *p, rt_seat *seat, str *error);
void rt_driver_give_seat(rt_queue *q, rt_seat *seat); /* whose launches have ended */
/* Room in later_args for so many more; given up again. */
void rt_driver_make_room(rt_device *d, size_t more);
void rt_driver_give_room(rt_device *d, size_t less);
void rt_driver_give_args(rt_device *d, uint64_t address); /* when no graph is left; there is room, which it takes */
bool rt_driver_has_args(rt_device *d); /* whether graphs may use some */
/* What waited for graphs to go. The caller holds queues_lock, and nobody records. false: there still are graphs. */
bool rt_driver_unload_later(rt_device *d);

/* -- launch.c */

rg_status rt_driver_launch(rt_queue *q, rt_program *program, const rt_arg *args, str *error);

extern const rt_memory_table rt_driver_memory; /* memory.c */
extern const rt_graph_table rt_driver_graphs;  /* graph.c */

#endif

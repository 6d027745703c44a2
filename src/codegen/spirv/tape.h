/* Between the files of the tape. SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_SPIRV_TAPE_H
#define CODEGEN_SPIRV_TAPE_H

#include "analysis/pages.h"
#include "codegen/spirv/gen.h"

/* what an entry has while a function is written */
typedef struct sv_inside {
    spv_id launch, lane;
} sv_inside;

/* tape.c */
void sv_enter_function(gen *g, sv_inside *f);
void sv_leave_function(gen *g, const sv_inside *f);
spv_id sv_page_limit(gen *g); /* u32: of the pool, for tapes */
/* 64 bits all of them */
spv_id sv_in_page(gen *g, spv_id cursor);
spv_id sv_page_of(gen *g, spv_id at); /* of a cursor that stands on one, or a frame */
spv_id sv_depth(gen *g, spv_id cursor);
spv_id sv_height(gen *g, spv_id cursor);
spv_id sv_is_full(gen *g, spv_id cursor, spv_id bytes); /* for a frame of so many bytes */
spv_id sv_with_room(gen *g, spv_id cursor, spv_id bytes, const ir_op *op); /* leaves where there is none */
/* The bottom of the page above; where there is none, so many are taken, successive ones. Leaves where they are not there. */
spv_id sv_next_page(gen *g, spv_id cursor, spv_id count, const ir_op *op);
spv_id sv_above_bottom(gen *g, spv_id cursor);
spv_id sv_pages_left(gen *g, spv_id depth);
spv_id sv_first_page(gen *g);

/* again.c */
spv_id sv_task_pages(gen *g); /* the address of the counter */
spv_id sv_is_alone(gen *g); /* whether one workgroup runs all that is left of the task */
void sv_stop_if(gen *g, spv_id condition); /* the piece is left, and the entry ends */

/* frames.c */
void sv_begin_own_frames(gen *g, const ir_op *begin, const ir_own_tape *own);
void sv_push(gen *g, const ir_op *op);
void sv_pop(gen *g, const ir_op *op);

/* copies.c: an array, at once or behind the segment; `frame` is where its first frame lies */
void sv_copy(gen *g, const ir_op *op, spv_id frame);

/* snapshot.c */
enum { SV_FRAME = RT_GPU_BLOCK_BYTES }; /* of an array at most */
spv_id sv_smaller(gen *g, spv_id a, spv_id b);
/* In how many successive pages, this one and those behind it, full frames of `left` bytes lie, one in each; 1 if none is full. */
spv_id sv_pages_of_row(gen *g, spv_id page, spv_id left);
spv_id sv_whole_frame(gen *g, spv_id bytes); /* of so many bytes of an array: as its last frame has them */
void sv_save(gen *g, const ir_op *op);
void sv_restore(gen *g, const ir_op *op);
void sv_tasks(gen *g, const ir_op *op);
void sv_over_tasks(gen *g, const ir_op *op);
void sv_thin(gen *g, const ir_op *op);

#endif

/* What the printer and the parser of IR text share. SPDX-License-Identifier: Apache-2.0
 *
 * One op a line by custom, though line ends mean nothing but the end of a comment (`;`):
 *
 *   kernel @scale(%n: i32, %a: f32, %x: buf<f32,1> flat) shape { %e: i64 = cast %n  yield %e } {
 *     %zero: i32 = const 0
 *     parallel (%i: i32) = (%zero) to (%n) {
 *       %v: f32 = load %x[%i]
 *       %w: f32 = mul %v, %a @ scale.c:5:16
 *       store %x[%i], %w
 *       yield
 *     }
 *     yield
 *   }
 *
 * Names are unique within a function; a name of digits only stands for a value without one. Types
 * of results and parameters are always written. Suffixes of an op's name say the rest:
 *
 *   load store        .successive, .adj .tan .tan2 (planes, combined in this order)
 *   load              .atomic: other threads may update the element atomically
 *   rmw               .add ... .cas, then .successive, then planes, then .atomic
 *   lanes_reduce      .add ... .xor
 *   call              .vjp, then .jvp, .jvpt (buffers have tangents) or .jvpa (adds to buffers' adjoints) any
 *                     number of times, then .again
 *   any               .fast
 *
 *   %c: f64 = const 0.1               decimal or hex; inf, -inf, nan, nan:0xBITS
 *   %t: i32[3] = table {1, 2, 3}
 *   %e: i64 = extent %x, 0
 *   if %c { ... } else { ... }        the else may miss where it does nothing
 *   for [records] %i: T = %lo to %hi step 1 [(%a: T = %init, ...)] { ... }
 *   loop [records] [(%a: T = %init, ...)] { ... exit_if %c (%a) ... }
 *   parallel [records] [rewinds [%t]] (%i: T, ... [, %m: boolxN]) = (%lo, ...) to (%hi, ...)
 *            [reduce (add %init, ...)] { ... }
 *   unwind %trace, %count (%k: i64, %a: T = %init, ...) { ... }
 *   %r: f64 = call @f(%x)
 *   assert %c, "text"      print "format", %v
 *   store %x[%i], %v if %m            with lanes: masked; load, rmw, extract, insert, slots likewise
 *
 * Types with lanes are written f32x16, f32x16[3], slot<f32x16,3>.
 *
 * A function's own derivatives are named after its results: func @f(...) -> (f64) vjp @g jvp @h { ... }.
 *
 * Exact text alone has what is known of an op beside what it does, behind its place: `with (in_page, bundle 3)`. It is not
 * taken from strangers, since nothing can check it.
 *
 * A place, `@ file:line:col-end`, stands at an op's end or before its first region, after a
 * parameter and before a function's shape and body; `in @callee file:line:col` says, innermost
 * first, through which inlined calls the op came. */
#ifndef IR_TEXT_H
#define IR_TEXT_H

#include "ir/ir.h"

static inline uint64_t
text_hash(rg_str name)
{
    return hash_bytes(0, name.ptr, name.len);
}

/* What exact text has of an op's flags: as bits, or as numbers. */
#define TEXT_MARKS(BIT, NUMBER)                                                                                        \
    BIT(settled)                                                                                                       \
    BIT(ordered)                                                                                                       \
    BIT(closed)                                                                                                        \
    BIT(few)                                                                                                           \
    BIT(by_row)                                                                                                        \
    BIT(in_page)                                                                                                       \
    BIT(one_page)                                                                                                      \
    NUMBER(bundle)                                                                                                     \
    NUMBER(block)

/* literals (literal.c) */
void ir_print_literal(str *out, rg_dtype d, uint64_t bits);
/* false: malformed or out of range */
bool ir_parse_literal(rg_str text, rg_dtype d, uint64_t *bits);

#endif

/* The start of LLVM and libclang: what either does to state of the process happens here. SPDX-License-Identifier: Apache-2.0
 *
 * LLVM keeps the targets that it knows in a list without a lock, libclang adds to the same list when its first index is
 * made, and compilations look targets up in it. So the list has to be complete before the first of them, in whichever
 * thread. */
#ifndef LLVM_START_H
#define LLVM_START_H

/* Before any other call of LLVM or libclang. The first call starts them, others return when that is done. Any thread. */
void llvm_start(void);

#endif

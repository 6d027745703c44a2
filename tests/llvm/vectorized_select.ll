; A loop of scalars that LLVM makes vectors of, then wrong. SPDX-License-Identifier: Apache-2.0
;
;   opt -mcpu=skylake-avx512 -passes='loop-vectorize,instcombine' -S vectorized_select.ll
;
;   for (i = 0; i < n; i++)
;       if (bits >> i & 1) { out[i] = memory[i]; memory[i] = 0.5; } else out[i] = 3;
;
; LLVM 22.1.8, targets with masked loads. Expected: `out` has what `memory` had.
; Got: loop-vectorize makes a masked load, a masked store and a select; instcombine moves the load behind the store:
; `out` has 0.5. https://github.com/llvm/llvm-project/issues/215453; LLVM 23 has it mended.
target triple = "x86_64-unknown-linux-gnu"

define void @shape(ptr %memory, ptr noalias %out, ptr noalias %where, i64 %bits, i64 %n) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %join ]
  %shifted = lshr i64 %bits, %i
  %bit = trunc i64 %shifted to i1
  br i1 %bit, label %inside, label %join

inside:
  %at = getelementptr inbounds double, ptr %memory, i64 %i
  %loaded = load double, ptr %at, align 8
  store double 5.0e-1, ptr %at, align 8
  br label %join

join:
  %v = phi double [ %loaded, %inside ], [ 3.0, %loop ]
  %to = getelementptr inbounds double, ptr %out, i64 %i
  store double %v, ptr %to, align 8
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end

end:
  ret void
}

; A masked load that InstCombine moves into a loop with stores. SPDX-License-Identifier: Apache-2.0
;
;   opt -passes=instcombine -S masked_select_in_loop.ll
;
; LLVM 22.1.8, any target. Expected: what was loaded once before the loop is selected in it.
; Got: a masked load in each iteration, of what the iterations before it have stored.
; https://github.com/llvm/llvm-project/issues/215453; LLVM 23 has it mended.
define void @shape(ptr %memory, ptr noalias %out, ptr noalias %where, i64 %bits, i64 %n) {
entry:
  %low = trunc i64 %bits to i8
  %mask = bitcast i8 %low to <8 x i1>
  %loaded = call <8 x double> @llvm.masked.load.v8f64.p0(ptr align 8 %memory, <8 x i1> %mask, <8 x double> zeroinitializer)
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <8 x double> [ zeroinitializer, %entry ], [ %added, %loop ]
  %sel = select <8 x i1> %mask, <8 x double> %loaded, <8 x double> splat (double 1.0)
  %added = fadd <8 x double> %sum, %sel
  store <8 x double> %added, ptr %memory, align 8
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end

end:
  store <8 x double> %added, ptr %out, align 8
  ret void
}

declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, <8 x i1>, <8 x double>)

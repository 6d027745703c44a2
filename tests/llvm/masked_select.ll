; A masked load that InstCombine moves over a store. SPDX-License-Identifier: Apache-2.0
;
;   opt -passes=instcombine -S masked_select.ll
;
; LLVM 22.1.8, any target. Expected: the load stays before the store, or its new one comes to stand there.
; Got: one masked load, with -0.0 for the lanes that %mask leaves out, behind the store: what it gives is 0.
; https://github.com/llvm/llvm-project/issues/215453; LLVM 23 has it mended.
define void @shape(ptr %memory, ptr noalias %out, ptr noalias %where, i64 %bits, i64 %n) {
  %low = trunc i64 %bits to i8
  %mask = bitcast i8 %low to <8 x i1>
  %loaded = call <8 x double> @llvm.masked.load.v8f64.p0(ptr align 8 %memory, <8 x i1> %mask, <8 x double> zeroinitializer)
  call void @llvm.masked.store.v8f64.p0(<8 x double> zeroinitializer, ptr align 8 %memory, <8 x i1> %mask)
  %sel = select <8 x i1> %mask, <8 x double> %loaded, <8 x double> splat (double -0.0)
  store <8 x double> %sel, ptr %out, align 8
  ret void
}

declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, <8 x i1>, <8 x double>)
declare void @llvm.masked.store.v8f64.p0(<8 x double>, ptr, <8 x i1>)

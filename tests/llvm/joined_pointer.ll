; A pointer that a loop advances, which StructurizeCFG takes out of the loop's last block. SPDX-License-Identifier: Apache-2.0
;
;   opt -mcpu=gfx1100 -passes='function(loop-simplify,fix-irreducible,unify-loop-exits),structurizecfg' -S joined_pointer.ll
;
; LLVM 22.1.8, AMD's GPUs. Expected: the pointer advances by 256 in every round.
; Got: it does not in rounds that come to %latch through %inner: the phi behind the inner loop has %p for them.
; https://github.com/llvm/llvm-project/pull/183792 mends it in LLVM 23.
target triple = "amdgcn-amd-amdhsa"
define i64 @walk(ptr addrspace(1) %base, i32 %n, i32 %m, i32 %k) {
entry:
  br label %loop
loop:
  %p = phi ptr addrspace(1) [ %base, %entry ], [ %next, %latch ]
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %more = icmp slt i32 %i, %n
  br i1 %more, label %body, label %end
body:
  %inside = icmp slt i32 %i, %m
  br i1 %inside, label %inner, label %latch
inner:
  %j = phi i32 [ 0, %body ], [ %j1, %again ]
  %stays = icmp slt i32 %j, %i
  br i1 %stays, label %again, label %latch
again:
  %j1 = add i32 %j, 1
  %on = icmp slt i32 %j1, %k
  br i1 %on, label %inner, label %end
latch:
  %i1 = add i32 %i, 1
  %next = getelementptr i8, ptr addrspace(1) %p, i64 256
  br label %loop
end:
  %q = phi ptr addrspace(1) [ %p, %loop ], [ null, %again ]
  %r = ptrtoint ptr addrspace(1) %q to i64
  ret i64 %r
}

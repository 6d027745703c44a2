; stage: ad
; expect: error[E0210]: @k: the value lies in a parallel loop that this place does not rewind
; expect: error[E0210]: @k: values of a reverse sweep cannot be recalled
; expect: error[E0204]: @k: the trace does not come from a for or loop
; expect: error[E0204]: @k: the trace does not come from a snapshot
; expect: error[E0204]: @k: a snapshot is restored into a temp
; expect: error[E0209]: @k: snapshot stands at kernel level only
kernel @k(%n: i32, %c: i64, %x: f32, %z: buf<f32,1>) {
  for %i: i32 = %n to %n step 1 {
    %a: f32 = neg %x
    yield
  }
  %last: f32 = recall %a
  %t: trace = parallel records (%j: i32) = (%n) to (%n) {
    %e: f32 = neg %x
    yield
  }
  %f: f32 = recall %e
  %r: f32, %u: trace = for records %k: i32 = %n to %n step 1 (%v: f32 = %x) {
    yield %v
  }
  unwind %u, %c (%m: i64) {
    %g: f32 = recall %v
    %h: f32 = neg %g
    yield
  }
  %o: f32 = recall %h
  unwind %t, %c (%m2: i64) {
    yield
  }
  %kept: buf<f32,1> = temp %c
  restore %kept, %u
  %s: trace = snapshot %z
  restore %z, %s
  parallel (%thread: i32) = (%n) to (%n) {
    %w: trace = snapshot %z
    yield
  }
  yield
}

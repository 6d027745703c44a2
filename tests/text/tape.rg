; stage: tape
; A recurrence whose values stand on a tape: frames instead of traces.
kernel @tape(%n: i32, %x: buf<f64,1>) {
  %zero: i32 = const 0
  parallel records (%i: i32) = (%zero) to (%n) {
    %v0: f64 = load %x[%i]
    %c0: cursor = tape_begin
    %r: f64, %c: cursor = for %k: i32 = %zero to %n step 1 (%v: f64 = %v0, %cv: cursor = %c0) {
      %s: f64 = sin %v
      %cn: cursor = tape_push %cv, %v
      yield %s, %cn
    }
    %ce: cursor = tape_push %c, %r
    tape_end %ce
    yield
  }
  parallel rewinds (%i2: i32) = (%zero) to (%n) {
    %d0: cursor = tape_begin
    %d1: cursor, %r2: f64 = tape_pop %d0
    %g: f64 = load.adj %x[%i2]
    %gx: f64, %d: cursor = for %k2: i32 = %zero to %n step 1 (%gv: f64 = %g, %dv: cursor = %d1) {
      %dn: cursor, %p: f64 = tape_pop %dv
      %cs: f64 = cos %p
      %gn: f64 = mul %gv, %cs
      yield %gn, %dn
    }
    store.adj %x[%i2], %gx
    tape_end %d
    yield
  }
  yield
}

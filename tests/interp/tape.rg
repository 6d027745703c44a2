; stage tape
; What the square recurrence becomes when traces are frames.
; arg n = 3
; arg x[1] = 1.5
; arg x.adj = 1
; want x.adj = 136.6875
kernel @k(%n: i32, %x: buf<f64,1>) {
  %zero: i32 = const 0
  %zero64: i64 = const 0
  %two: f64 = const 2
  %n64: i64 = cast %n
  %minus: i64 = const -1
  %v0: f64 = load %x[%zero]
  %bottom: cursor = tape_begin
  %r: f64, %top: cursor = for %k: i32 = %zero to %n step 1 (%v: f64 = %v0, %c: cursor = %bottom) {
    %s: f64 = mul %v, %v
    %c1: cursor = tape_push %c, %v
    yield %s, %c1
  }
  %g: f64 = load.adj %x[%zero]
  %last: i64 = add %n64, %minus
  %gx: f64, %end: cursor = for %k2: i64 = %last to %minus step -1 (%gv: f64 = %g, %d: cursor = %top) {
    %d1: cursor, %p: f64 = tape_pop %d
    %q: f64 = mul %p, %two
    %gn: f64 = mul %gv, %q
    yield %gn, %d1
  }
  store.adj %x[%zero], %gx
  tape_end %end
  yield
}

; arg n 12
; arg steps [ 12 ] from 0 mod 12
; arg x [ 12 12 ]
; arg y [ 12 ]
; Elements that the kernel overwrites: iterations record what they loaded, blocks their state. One is loaded in
; a branch, in a loop that a break may end, within a loop that is left early.
kernel @block_kept(%n: i32, %steps: buf<i32,1>, %x: buf<f64,2>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  parallel (%i: i32) = (%zero) to (%n) {
    %v0: f64 = load %y[%i]
    %m: i32 = load %steps[%i]
    %k: f64 = const 0.4
    %f: f64 = for %t: i32 = %zero to %m step 1 (%a: f64 = %v0) {
      %e: f64 = load %x[%i, %t]
      %s: f64 = sin %a
      %p: f64 = mul %s, %e
      %r: i32 = rem %t, %two
      %odd: bool = eq %r, %one
      %q: f64 = if %odd {
        %last: f64 = load %x[%i, %zero]
        %d: f64 = mul %last, %p
        %d2: f64 = mul %d, %p
        yield %d2
      } else {
        yield %p
      }
      %a1: f64 = add %q, %k
      store %x[%i, %t], %a1
      yield %a1
    }
    %out: f64 = loop (%o: i32 = %zero, %v: f64 = %f) {
      %end: bool = gt %o, %two
      exit_if %end (%v)
      %w: f64 = loop (%lt: i32 = %zero, %la: f64 = %v) {
        %c: bool = ge %lt, %m
        exit_if %c (%la)
        %le: f64 = load %x[%i, %lt]
        %lp: f64 = mul %le, %la
        %big: f64 = const 0.6
        %over: bool = gt %lp, %big
        exit_if %over (%lp)
        %ls: f64 = cos %lp
        %la1: f64 = mul %ls, %le
        store %x[%i, %lt], %la1
        %t1: i32 = add %lt, %one
        yield %t1, %la1
      }
      %low: f64 = const 0.2
      %under: bool = lt %w, %low
      exit_if %under (%w)
      %z: f64 = mul %w, %v
      %o1: i32 = add %o, %one
      yield %o1, %z
    }
    store %y[%i], %out
    yield
  }
  yield
}

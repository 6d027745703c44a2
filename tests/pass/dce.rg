; Carried values that feed only themselves go, with what computes them; effects and what they need stay.
; count opt_dce sin 0
; count opt_dce cos 0
; count opt_dce mul 0
; count opt_dce add 1
; count opt_dce for 1
; count opt_dce loop 0
; count opt_dce temp 0
; count opt_dce if 0
; arg x[2] = 1 2
; want x = 7 2
kernel @k(%x: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %six: i64 = const 6
  %f1: f64 = const 1
  %unused: f64 = sin %f1
  %v0: f64 = load %x[%zero]
  %t: buf<f64,1> = temp %six
  %r: f64, %a: f64, %b: f64 = for %i: i64 = %zero to %six step 1 (%v: f64 = %v0, %p: f64 = %f1, %q: f64 = %f1) {
    %v1: f64 = add %v, %f1
    %p1: f64 = mul %p, %q
    %q1: f64 = cos %p
    yield %v1, %p1, %q1
  }
  %gone: f64 = loop (%w: f64 = %v0) {
    %big: bool = gt %w, %r
    exit_if %big (%w)
    %w1: f64 = add %w, %f1
    yield %w1
  }
  %dead: i64 = add %six, %one
  %dead_end: bool = gt %r, %v0
  %half: f64, %other: f64 = if %dead_end {
    yield %r, %gone
  } else {
    yield %v0, %r
  }
  store %x[%zero], %r
  yield
}

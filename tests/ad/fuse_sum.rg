; arg n 5
; arg k
; arg x [ 5 ]
; arg y [ 2 ]
; rewinds 0
; A sum that goes into a loss, and kernel-level code around it that has derivatives of its own.
kernel @fuse_sum(%n: i64, %k: f64, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %nought: f64 = const 0
  %q: f64 = for %j: i64 = %zero to %n step 1 (%a: f64 = %k) {
    %e: f64 = load %x[%j]
    %f: f64 = mul %a, %e
    yield %f
  }
  %sum: f64 = parallel (%i: i64) = (%zero) to (%n) reduce (add %nought) {
    %v0: f64 = load %x[%i]
    %p: f64 = for %t: i64 = %zero to %i step 1 (%v: f64 = %v0) {
      %s: f64 = sin %v
      %w: f64 = mul %s, %k
      yield %w
    }
    yield %p
  }
  %r: f64 = for %j_1: i64 = %zero to %n step 1 (%b: f64 = %q) {
    %g: f64 = load %x[%j_1]
    %h: f64 = mul %b, %g
    yield %h
  }
  %half: f64 = const 0.5
  %l: f64 = mul %sum, %half
  %l1: f64 = add %l, %r
  store %y[%zero], %l1
  yield
}

; stage ad
; What folding moves out of a recording loop is in scope where it was recalled: no recall is left.
; count simplify recall 0
; arg c = 3
; arg x[1] = 2
; want x = 27
kernel @k(%c: f64, %x: buf<f64,1>) {
  %zero: i64 = const 0
  %three: i64 = const 3
  %one: f64 = const 1
  %d: f64 = mul %c, %one
  %r: f64, %unchanged: f64, %t: trace = for records %k: i64 = %zero to %three step 1 (%v: f64 = %one, %same: f64 = %c) {
    %e: f64 = mul %same, %one
    %v1: f64 = mul %v, %e
    yield %v1, %same
  }
  %g: f64 = unwind %t, %three (%k2: i64, %gv: f64 = %one) {
    %q: f64 = recall %e
    %gn: f64 = mul %gv, %q
    yield %gn
  }
  store %x[%zero], %g
  yield
}

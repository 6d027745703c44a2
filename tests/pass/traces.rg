; stage ad
; A trace that is not unwound is not recorded; one that is keeps what it recalls, in the partial iteration too.
; count opt_dce unwind 1
; count opt_dce sin 1
; count simplify cos 1
; tolerance 1e-15
; arg x[2] = 0.5 0
; want x = 0.5 0.8884439152196106
kernel @k(%x: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %three: i64 = const 3
  %f0: f64 = const 0
  %f1: f64 = const 1
  %v0: f64 = load %x[%zero]
  %n: i64, %t: trace = loop records (%i: i64 = %zero, %v: f64 = %v0) {
    %s: f64 = sin %v
    %end: bool = ge %i, %three
    exit_if %end (%i)
    %i1: i64 = add %i, %one
    yield %i1, %s
  }
  %unused: f64, %t2: trace = for records %k: i64 = %zero to %three step 1 (%w: f64 = %v0) {
    %w1: f64 = add %w, %f1
    yield %w1
  }
  %p: f64 = recall %s
  %g0: f64 = cos %p
  %g: f64, %dead: f64 = unwind %t, %n (%k2: i64, %gv: f64 = %g0, %gd: f64 = %f0) {
    %q: f64 = recall %s
    %q2: f64 = recall %s
    %d: f64 = mul %gv, %q
    %e: f64 = mul %gd, %q2
    %sum: f64 = add %d, %q2
    yield %sum, %e
  }
  unwind %t2, %three (%k3: i64) {
    %nothing: f64 = recall %w
    yield
  }
  store %x[%one], %g
  yield
}

; arg n 4
; arg steps 3
; arg k
; arg x [ 4 ]
; arg v [ 4 ]
; arg loss [ 1 ]
; A time loop around two tasks that work in place, a kernel-level scalar, then a sum.
kernel @simulate(%n: i64, %steps: i64, %k: f64, %x: buf<f64,1>, %v: buf<f64,1>, %loss: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %h0: f64 = const 0.1
  %h9: f64 = for %t: i64 = %zero to %steps step 1 (%h: f64 = %h0) {
    parallel (%i: i64) = (%zero) to (%n) {
      %xi: f64 = load %x[%i]
      %vi: f64 = load %v[%i]
      %s: f64 = sin %xi
      %f: f64 = mul %s, %k
      %d: f64 = mul %f, %h
      %nv: f64 = sub %vi, %d
      store %v[%i], %nv
      yield
    }
    parallel (%i_1: i64) = (%zero) to (%n) {
      %xi_1: f64 = load %x[%i_1]
      %vi_1: f64 = load %v[%i_1]
      %m: f64 = mul %vi_1, %xi_1
      %d_1: f64 = mul %m, %h
      %nx: f64 = add %xi_1, %d_1
      store %x[%i_1], %nx
      yield
    }
    %h1: f64 = mul %h, %k
    yield %h1
  }
  %zf: f64 = const 0
  %sum: f64 = parallel (%i_2: i64) = (%zero) to (%n) reduce (add %zf) {
    %xi_2: f64 = load %x[%i_2]
    %q: f64 = mul %xi_2, %xi_2
    yield %q
  }
  %r: f64 = mul %sum, %h9
  %rr: f64 = sqrt %r
  rmw.add %loss[%zero], %rr
  yield
}

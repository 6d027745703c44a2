; stage slots
; Iterations that add a sum of lanes: eight at a time and what is left, upwards and downwards, with what they carry, and
; where there are none.
; count opt_unroll_counted for 6
; count opt_unroll_counted lanes_reduce 27
; arg n = 6
; arg m = 21
; arg none = -3
; arg x[6] = 1 2 3 4 5 6
; arg w[21] = 0
; arg v[21] = 0
; arg y[1] = 0
; arg last[6] = 0
; want w = 21
; want v = 141 135 129 123 117 111 105 99 93 87 81 75 69 63 57 51 45 39 33 27 21
; want y = 0
; want last = 22 23 24 25 26 27
kernel @loops(%n: i64, %m: i32, %none: i64, %x: buf<f64,1>, %w: buf<f64,1>, %v: buf<f64,1>, %y: buf<f64,1>, %last: buf<f64,1>) {
  %zero: i64 = const 0
  %z: i32 = const 0
  %end: i64 = const -1
  %from: i64 = const 20
  %one: f64 = const 1
  %nil: f64 = const -0.0
  parallel (%i: i64, %p: boolx4) = (%zero) to (%n) {
    %a: f64x4 = load.successive %x[%i] if %p
    %b: f64x4 = select %p, %a, %nil
    for %k: i32 = %z to %m step 1 {
      %s: f64 = lanes_reduce.add %b
      rmw.add.atomic %w[%k], %s
      yield
    }
    %e: f64x4 = for %j: i64 = %from to %end step -1 (%c: f64x4 = %b) {
      %t: f64x4 = select %p, %c, %nil
      %u: f64 = lanes_reduce.add %t
      rmw.add.atomic %v[%j], %u
      %d: f64x4 = add %c, %one
      yield %d
    }
    for %q: i64 = %zero to %none step 1 {
      %f: f64 = lanes_reduce.add %b
      rmw.add.atomic %y[%zero], %f
      yield
    }
    store.successive %last[%i], %e if %p
    yield
  }
  yield
}

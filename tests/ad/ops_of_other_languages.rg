; arg x [ 4 ]
; arg y [ 2 ]
; split
; Ops that C has no words for: Python's %, and the reciprocal square root.
kernel @ops_of_other_languages(%x: buf<f64,1>, %y: buf<f64,1>) {
  %i0: i64 = const 0
  %i1: i64 = const 1
  %u: f64 = load %x[%i0]
  %v: f64 = load %x[%i1]
  %c: f64 = const 1.25
  %d: f64 = const 0.3
  %e: f64 = exp %v
  %p: f64 = mul %u, %e
  %m: f64 = floormod %p, %c
  %s: f64 = mul %m, %u
  %w: f64 = add %e, %d
  %r: f64 = rsqrt %w
  %t: f64 = mul %r, %v
  store %y[%i0], %s
  rmw.add %y[%i1], %t
  yield
}

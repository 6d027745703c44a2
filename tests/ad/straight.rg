; arg a
; arg x [ 4 ]
; arg y [ 4 ]
; split
; Straight-line code of one thread, a scalar parameter, a store that consumes its adjoint.
kernel @straight(%a: f64, %x: buf<f64,1>, %y: buf<f64,1>) {
  %i0: i64 = const 0
  %i1: i64 = const 1
  %u: f64 = load %x[%i0]
  %v: f64 = load %x[%i1]
  %s: f64 = sin %u
  %p: f64 = mul %s, %v
  %q: f64 = div %p, %a
  %e: f64 = exp %q
  %t: f64 = tanh %e
  %w: f64 = pow %v, %t
  store %y[%i0], %w
  rmw.add %y[%i1], %e
  yield
}

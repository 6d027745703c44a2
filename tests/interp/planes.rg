; A missing plane reads 0 and drops what is written; a scalar's adjoint
; is one element.
; arg a = 2
; arg a.adj = 10
; arg h[2] = 1 2
; arg h.adj = 0.5
; arg x[1] = 7
; want a.adj = 11
; want h.adj = 1.5 0.5
; want return = 0
; want x = 7
kernel @k(%a: f64, %h: buf<f16,1>, %x: buf<f64,1>) -> (f64) {
  %zero: i64 = const 0
  %one: f64 = const 1
  %onef: f16 = const 1
  %g: f64 = load.adj %x[%zero]
  store.adj %x[%zero], %one
  rmw.add.adj %a, %one
  rmw.add.adj %h[%zero], %onef
  yield %g
}

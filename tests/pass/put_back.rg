; stage ad
; The first element keeps its adjoint, the second gets another in one store; of the third and fourth one is
; read in between, which is left alone, and so is what other threads may add to.
; count opt_put_back store 3
; count opt_put_back rmw 3
; arg x[2] = 0
; arg x.adj = 3 5
; arg y[2] = 0
; arg y.adj = 1 2
; arg z[1] = 0
; arg z.adj = 4
; want x.adj = 3 9
; want y.adj = 10 10
; want z.adj = 7
kernel @k(%x: buf<f64,1>, %y: buf<f64,1>, %z: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %nil: f64 = const 0
  %seven: f64 = const 7
  %g: f64 = load.adj %x[%zero]
  store.adj %x[%zero], %nil
  %h: f64 = mul %g, %g
  rmw.add.adj %y[%zero], %h
  rmw.add.adj %x[%zero], %g
  store.adj %x[%one], %nil
  rmw.add.adj %x[%one], %h
  store.adj %y[%one], %nil
  %b: f64 = load.adj %y[%zero]
  rmw.add.adj %y[%one], %b
  store.adj %z[%zero], %nil
  rmw.add.adj.atomic %z[%zero], %seven
  yield
}

; expect: error[E0111]: this operation cannot have such a suffix
; expect: then a direction .d1 to .d63
kernel @k(%x: buf<f32,0>) {
  %a: f32 = load.d1 %x[]
  %b: f32 = load.adj.d0 %x[]
  %c: f32 = load.adj.d64 %x[]
  %d: f32 = load.d1.adj %x[]
  %e: f32 = load.adj.d1.d2 %x[]
  rmw.add.adj.atomic.d1 %x[], %a
  %f: f32 = load.adj.d3.of3 %x[]
  %g: f32 = load.adj.of2.d1 %x[]
  %h: f32 = load.of2 %x[]
  yield
}

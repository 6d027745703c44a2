; What a thread adds to elements of its own is loaded and stored, several additions to one element once; an atomic addition stays, and
; so do those in a loop and in a branch. An addition behind a read of the element, or behind another that stays, is one of its own.
; stage ad
; count opt_plain_adds rmw 3
; count opt_plain_adds load 6
; count opt_plain_adds store 5
; arg n = 3
; arg x[3] = 1 2 3
; arg x.adj = 10 20 30
; arg y[3] = 0
; arg y.adj = 1 1 1
; arg z[3] = 0
; arg z.adj = 5 5 5
; arg w[3] = 0
; want x.adj = 14 28 42
; want y.adj = 8 14 20
; want z.adj = 6 7 8
; want w = 3 5 7
kernel @plain(%n: i32, %x: buf<f32,1>, %y: buf<f32,1>, %z: buf<f32,1>, %w: buf<f32,1>) {
  %zero: i32 = const 0
  %two: i32 = const 2
  parallel (%i: i32, %m: boolx2) = (%zero) to (%n) {
    %v: f32x2 = load.successive %x[%i] if %m
    rmw.add.successive.adj %x[%i], %v if %m
    rmw.add.successive.adj %y[%i], %v if %m
    rmw.add.successive.adj %x[%i], %v if %m
    rmw.add.successive.adj %y[%i], %v if %m
    rmw.add.successive.adj.atomic %z[%i], %v if %m
    %any: bool = lanes_any %m
    if %any {
      rmw.add.successive.adj %x[%i], %v if %m
      yield
    } else {
      yield
    }
    rmw.add.successive.adj %x[%i], %v if %m
    %s: f32x2 = load.successive.adj %y[%i] if %m
    store.successive %w[%i], %s if %m
    rmw.add.successive.adj %y[%i], %s if %m
    for %k: i32 = %zero to %two step 1 {
      rmw.add.successive.adj %y[%i], %v if %m
      yield
    }
    yield
  }
  yield
}

kernel @several(%n: i32, %s: f64, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  parallel (%i: i32) = (%zero) to (%n) {
    %g: f64 = load.adj %y[%i]
    %h: f64 = load.adj.d1 %y[%i]
    %last: f64 = load.adj.tan.d63 %y[%i]
    rmw.add.adj %x[%i], %g
    rmw.add.adj.d1.atomic %x[%i], %h
    rmw.add.adj.d10 %s, %last
    store.adj.d1 %y[%i], %g
    %near: f64 = load.tan.of3 %x[%i]
    %far: f64 = load.tan.d2.of3 %x[%i]
    rmw.add.tan.d1.of3.atomic %y[%i], %near
    rmw.add.adj.tan.d4.of64 %s, %far
    yield
  }
  yield
}

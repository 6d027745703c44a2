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
    yield
  }
  yield
}

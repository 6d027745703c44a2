kernel @k(%x: buf<f64,2>, %n: i32) {
  %i: i32 = const 1
  %a: f64 = load.row %x[%i, %n]
  %b: f64 = load.atomic.row %x[%i, %n]
  %c: f64 = load.adj.d2.row %x[%i, %n]
  store.row %x[%n, %i], %a
  rmw.add.adj.atomic.row %x[%i, %n], %b
  rmw.add.tan.row %x[%i, %n], %c
  yield
}

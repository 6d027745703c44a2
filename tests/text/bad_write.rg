; expect: error[E0206]: @f: a function reads its arrays, and may add to their adjoints
; expect: error[E0206]: @g: a function reads its arrays, and may add to their adjoints
func @f(%x: buf<f64,1>, %a: f64) -> (f64) {
  %zero: i64 = const 0
  rmw.add.adj %x[%zero], %a
  store %x[%zero], %a
  yield %a
}
func @g(%x: buf<f64,1>, %a: f64) -> (f64) {
  %zero: i64 = const 0
  rmw.add %x[%zero], %a
  yield %a
}

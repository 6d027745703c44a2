; expect: error[E0213]: @k: the call has not the operands and results of @f
; expect: error[E0214]: @f: @g is not a vjp of this function
func @f(%x: f64) -> (f64) vjp @g {
  %s: f64 = mul %x, %x
  yield %s
}
func @g(%x: f64, %r: f64) -> (f64) {
  yield %x
}
kernel @k(%x: buf<f64,0>) {
  %v: f64 = load %x[]
  %c: f64 = call.vjp @f(%v)
  store %x[], %c
  yield
}

; expect: error[E0112]: these are not the types that the function's yield has
func @f(%x: f32) -> (f64) {
  yield %x
}

; expect: error[E0103]: no operation is called `sine`
func @f(%x: f32) -> (f32) {
  %y: f32 = sine %x
  yield %y
}

; expect: error[E0213]: @k: a call names a function of this module that is no kernel
; expect: error[E0213]: @k: the call has not the operands and results of @f
func @f(%x: f32) -> (f32) {
  yield %x
}
kernel @k(%x: f32) {
  call @k(%x)
  call @f(%x)
  yield
}

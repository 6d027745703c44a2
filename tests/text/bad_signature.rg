; expect: error[E0214]: @k: parameter 0 has a type that a kernel cannot take
; expect: error[E0214]: @f: parameter 0 has a type that a function cannot take
; expect: error[E0214]: @s: a kernel's shape has no parameters and yields one extent for each of the 1 axes
kernel @k(%a: f32[3]) {
  yield
}
func @f(%a: trace) -> () {
  yield
}
kernel @s(%a: buf<f32,1>) shape { yield } {
  yield
}

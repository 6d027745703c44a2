; expect: error[E0105]: no value of this name is defined before
; expect: error[E0106]: this name is defined twice in one function
; expect: bad_names.rg:8:17: error[E0105]
; expect: error[E0106]: two functions have this name
func @f(%x: f32) -> (f32) {
  %y: f32 = add %x, %y
  %x: f32 = neg %x
  %z: f32 = mul %q, %x
  yield %z
}
func @f() -> () {
  yield
}

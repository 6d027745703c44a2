; expect: error[E0104]: no such type
; expect: = help: scalars are bool
func @f(%x: float) -> () {
  yield
}

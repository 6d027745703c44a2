; expect: error[E0204]: @k: assert takes 1 operands here, not 2
; expect: error[E0204]: @k: operand 2 is not of the type that it must have
; expect: error[E0204]: @k: the fourth operand of an assert is a mask
kernel @k(%i: i64, %n: i32) {
  %c: bool = lt %i, %i
  assert %c, "one number is no subscript", %i
  assert %c, "an extent is i64", %i, %n
  assert %c, "no mask", %i, %i, %c
  yield
}

; What an assert with a subscript tells.
; arg i = -7
; fault index -7 leaves axis 0 of array `x`, extent 5
kernel @k(%i: i64) -> (i64) {
  %five: i64 = const 5
  %zero: i64 = const 0
  %low: bool = ge %i, %zero
  assert %low, "axis 0 of array `x`", %i, %five
  yield %i
}

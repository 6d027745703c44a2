; Without a promise an index may leave its axis while the element stays in the array; with one it may not.
; arg x[2,3] = 1
; fault index 3 leaves axis 1 of array `x`, extent 3
kernel @k(%x: buf<i32,2>) -> (i32) {
  %zero: i64 = const 0
  %three: i64 = const 3
  %v: i32 = load %x[%zero, %three]
  %w: i32 = load.row %x[%zero, %three]
  %s: i32 = add %v, %w
  yield %s
}

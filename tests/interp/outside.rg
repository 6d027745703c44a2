; arg x[2,3] = 1
; fault index 3 leaves axis 1 of array `x`, extent 3
kernel @k(%x: buf<i32,2>) -> (i32) {
  %one: i64 = const 1
  %three: i64 = const 3
  %v: i32 = load %x[%one, %three]
  yield %v
}

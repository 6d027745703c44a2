; An index behind the last row is outside, with the name of the axis and the array.
; arg n = 2
; arg x[2,3] = 1
; fault axis 0 of
kernel @checked_outside(%n: i32, %x: buf<f32,2>) -> (f32) {
  %zero: i32 = const 0
  %v: f32 = load %x[%n, %zero]
  yield %v
}

; stage: ad
; expect: @k: a table has no lanes
; expect: @k: operand 0 is not a scalar without lanes
kernel @k(%n: i32, %x: buf<f32,1>) {
  %zero: i32 = const 0
  parallel (%i: i32, %m: boolx16) = (%zero) to (%n) {
    %f: f32x16 = load.successive %x[%i] if %m
    %t: f32x16[2] = table {1, 2}
    print "%f", %f
    yield
  }
  yield
}

; arg x[1] = 3
; fault assertion failed: x < 3
; print x is 3\n
kernel @k(%x: buf<f32,1>) {
  %zero: i64 = const 0
  %three: f32 = const 3
  %v: f32 = load %x[%zero]
  print "x is %g\n", %v
  %c: bool = lt %v, %three
  assert %c, "x < 3"
  yield
}

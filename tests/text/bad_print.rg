; expect: error[E0206]: @k: the format has no conversion that fits operand 0
; expect: error[E0206]: @k: the format has more conversions than operands
kernel @k(%i: i32) {
  print "%f\n", %i
  print "%s\n", %i
  print "%d %d\n", %i
  print "100%% of %5d\n", %i
  yield
}

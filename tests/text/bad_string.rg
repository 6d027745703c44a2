; expect: error[E0101]: a string does not end on its line
; expect: = help: close it with "
kernel @k(%b: bool) {
  assert %b, "no end
  yield
}

; expect: error[E0203]: @k: operand 0 is not visible here: its region is closed
; expect: = help: the op: %d: bool = not %c
kernel @k(%b: bool) {
  if %b {
    %c: bool = not %b
    yield
  }
  %d: bool = not %c
  yield
}

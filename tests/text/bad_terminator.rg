; expect: error[E0202]: @k: a yield stands last in its region
; expect: error[E0202]: @k: a region ends with a yield, and this is its last op
; expect: error[E0202]: @k: a region ends with a yield, and here one is empty
kernel @k(%b: bool) {
  yield
  if %b {
  } else {
    %c: bool = not %b
  }
  yield
}

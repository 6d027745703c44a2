; stage: ad
; expect: error[E0214]: @k: parameter 0 has a type that a kernel cannot take
kernel @k(%n: i32x8) {
  yield
}

; expect: error[E0107]: not a number that u8 can hold
; expect: error[E0107]: not a number that f32 can hold
; expect: error[E0107]: a rank is malformed or out of range
kernel @k(%x: buf<f32,9>) {
  %a: u8 = const 256
  %b: f32 = const 1e99
  yield
}

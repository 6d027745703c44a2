; stage: ad
; expect: error[E0211]: @k: local array a is used after it was consumed
kernel @k(%i: i64, %x: f32) {
  %a: f32[2] = array
  %r: f32[2] = recall %a
  %b: f32[2] = insert %r[%i], %x
  %e: f32 = extract %a[%i]
  yield
}

; stage: slots
kernel @slots(%i: i64, %x: f32, %out: buf<f32,0>) {
  %t: f32[3] = table {1, 2.5, -0}
  %a: slot<f32,3> = slot
  %b: slot<f32,3> = slot
  slot_zero %a
  slot_copy %b, %t
  slot_copy %a, %b
  slot_store %a[%i], %x
  %v: f32 = slot_load %a[%i]
  store %out[], %v
  yield
}

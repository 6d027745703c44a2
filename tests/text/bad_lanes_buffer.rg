; expect: no such type
kernel @k(%x: buf<f32x8,1>) {
  yield
}

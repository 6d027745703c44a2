; expect: has a type that does not belong to this stage
kernel @k(%x: buf<f32,1>) {
  %l: i32x8 = lane
  yield
}

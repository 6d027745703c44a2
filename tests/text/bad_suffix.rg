; expect: error[E0111]: this operation cannot have such a suffix
kernel @k(%x: buf<f32,0>) {
  %v: f32 = load.add %x[]
  rmw %x[], %v
  yield
}

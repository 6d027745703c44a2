kernel @f(%n: i64, %x: buf<f64,1>) shape {
  yield %n
} {
  %0: i64 = const 0
  %1: f64 = load %x[%0]
  %2: f64 = mul %1, %1
  store %x[%0], %2
  yield
}

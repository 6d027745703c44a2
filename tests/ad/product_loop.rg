; arg n 4
; arg steps 2
; arg u [ 4 ]
; A product over all threads in a time loop: what the look at all factors keeps is recalled, and has tangents.
kernel @product_loop(%n: i64, %steps: i64, %u: buf<f64,1>) {
  %zero: i64 = const 0
  %one: f64 = const 1
  for %t: i64 = %zero to %steps step 1 {
    %s: f64 = parallel (%i: i64) = (%zero) to (%n) reduce (mul %one) {
      %v: f64 = load %u[%i]
      %half: f64 = const 0.5
      %f: f64 = add %v, %half
      yield %f
    }
    parallel (%j: i64) = (%zero) to (%n) {
      %w: f64 = load %u[%j]
      %ws: f64 = mul %w, %s
      %sn: f64 = sin %ws
      store %u[%j], %sn
      yield
    }
    yield
  }
  yield
}

; arg n 5
; arg a
; arg x [ 5 ]
; arg y [ 3 ]
; Reductions by min, max and product, with initial values that are active too.
kernel @reductions(%n: i64, %a: f64, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %two: i64 = const 2
  %five: f64 = const 5
  %big: f64 = mul %a, %five
  %lo: f64, %hi: f64, %prod: f64 = parallel (%i: i64) = (%zero) to (%n) reduce (min %big, max %a, mul %a) {
    %v: f64 = load %x[%i]
    %s: f64 = sin %v
    %q: f64 = mul %v, %v
    yield %s, %q, %v
  }
  %l2: f64 = mul %lo, %hi
  store %y[%zero], %l2
  store %y[%one], %hi
  store %y[%two], %prod
  yield
}

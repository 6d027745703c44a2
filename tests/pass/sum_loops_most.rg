; stage slots
; From the largest index down to 0 there are 2^31 iterations, a number that is negative in the index's type: the first one's
; load is done all the same.
; count opt_unroll_counted for 2
; arg top = 2147483647
; arg x[1] = 1
; arg y[1] = 0
; fault index 2147483647 leaves axis 0
kernel @most(%top: i32, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %end: i32 = const -1
  %nil: f64 = const 0
  parallel (%i: i32) = (%zero) to (%one) {
    %sum: f64 = for %k: i32 = %top to %end step -1 (%a: f64 = %nil) {
      %b: f64 = load %x[%k]
      %c: f64 = add %a, %b
      yield %c
    }
    store %y[%i], %sum
    yield
  }
  yield
}

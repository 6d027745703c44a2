; arg n 5
; arg k
; arg x [ 5 ]
; arg y [ 2 ]
; rewinds 0
; Two tasks into two losses: the first one is in the way of the second no more than any code is.
kernel @fuse_two(%n: i64, %k: f64, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %nought: f64 = const 0
  %other: f64 = parallel (%i_1: i64) = (%zero) to (%n) reduce (add %k) {
    %u: f64 = load %x[%i_1]
    %c: f64 = cos %u
    %c2: f64 = mul %c, %c
    yield %c2
  }
  %sum: f64 = parallel (%i: i64) = (%zero) to (%n) reduce (add %nought) {
    %v0: f64 = load %x[%i]
    %p: f64 = for %t: i64 = %zero to %i step 1 (%v: f64 = %v0) {
      %s: f64 = sin %v
      %w: f64 = mul %s, %k
      yield %w
    }
    yield %p
  }
  store %y[%zero], %other
  store %y[%one], %sum
  yield
}

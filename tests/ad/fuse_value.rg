; arg n 5
; arg k
; arg x [ 5 ]
; arg y [ 2 ]
; rewinds 1
; A sum whose value its adjoint needs: the task is rewound.
kernel @fuse_value(%n: i64, %k: f64, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %nought: f64 = const 0
  %sum: f64 = parallel (%i: i64) = (%zero) to (%n) reduce (add %nought) {
    %v0: f64 = load %x[%i]
    %p: f64 = for %t: i64 = %zero to %i step 1 (%v: f64 = %v0) {
      %s: f64 = sin %v
      %w: f64 = mul %s, %k
      yield %w
    }
    yield %p
  }
  %l: f64 = sin %sum
  store %y[%one], %l
  yield
}

; arg x [ 4 ]
; arg y [ 4 ]
; split
; The guard as an op of its own: it hands on its second operand, and its first has no share.
kernel @guard(%x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %n: i64 = extent %x, 0
  %nil: f64 = const 0
  parallel (%i: i64) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %l: f64 = log %v
    %s: f64 = sin %v
    %a: f64 = zero_guard %s, %l
    %b: f64 = zero_guard %nil, %l
    %c: f64 = mul %a, %v
    %d: f64 = add %c, %b
    store %y[%i], %d
    yield
  }
  yield
}

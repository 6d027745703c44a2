; arg x [ 5 ]
; arg y [ 5 ]
; split
; An if in a parallel loop; one arm is infinite where it is not taken.
kernel @branch(%x: buf<f64,1>, %y: buf<f64,1>) {
  %lo: i64 = const 0
  %hi: i64 = extent %x, 0
  parallel (%i: i64) = (%lo) to (%hi) {
    %v: f64 = load %x[%i]
    %half: f64 = const 0.6
    %c: bool = lt %v, %half
    %r: f64 = if %c {
      %s: f64 = mul %v, %v
      %t: f64 = sin %s
      %z: f64 = mul %t, %s
      yield %z
    } else {
      %l: f64 = log %v
      yield %l
    }
    %q: f64 = mul %r, %r
    store %y[%i], %q
    yield
  }
  yield
}

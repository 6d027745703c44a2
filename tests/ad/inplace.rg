; arg x [ 5 ]
; A serial in-place sweep, and a task that squares in place.
kernel @inplace(%x: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %n: i64 = extent %x, 0
  for %i: i64 = %one to %n step 1 {
    %p: i64 = sub %i, %one
    %a: f64 = load %x[%p]
    %b: f64 = load %x[%i]
    %c: f64 = mul %a, %b
    %s: f64 = sin %c
    store %x[%i], %s
    yield
  }
  parallel (%i_x: i64) = (%zero) to (%n) {
    %a_x: f64 = load %x[%i_x]
    %b_x: f64 = mul %a_x, %a_x
    store %x[%i_x], %b_x
    yield
  }
  yield
}

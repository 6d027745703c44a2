; arg x [ 6 ]
; split
; x[t+1] = f(x[t]): the needed values stand still.
kernel @recurrence(%x: buf<f64,1>) {
  %one: i64 = const 1
  %zero: i64 = const 0
  %n: i64 = extent %x, 0
  %m: i64 = sub %n, %one
  for %t: i64 = %zero to %m step 1 {
    %a: f64 = load %x[%t]
    %s: f64 = sin %a
    %u: i64 = add %t, %one
    store %x[%u], %s
    yield
  }
  yield
}

; A load moves out of loops that change other elements of its array, in rows behind it, and is then the same for both. %first may
; be changed, and stays.
; count straight load 5
; arg n = 3
; arg a[3,3] = 2 2 3 4 5 6 7 8 9
; arg x[3] = 2 2 3
; want a = 2 2 3 8 10 6 14 16 9
; want x = 4 8 12
kernel @k(%n: i32, %a: buf<f64,2>, %x: buf<f64,1>)
shape { %e: i64 = const 3  yield %e, %e, %e } {
  %zero: i32 = const 0
  %one: i32 = const 1
  for %i: i32 = %one to %n step 1 {
    %pivot: f64 = load.row %a[%zero, %zero]
    %below: f64 = load.row %a[%i, %zero]
    %scaled: f64 = mul %below, %pivot
    store.row %a[%i, %zero], %scaled
    yield
  }
  for %k: i32 = %one to %n step 1 {
    %pivot2: f64 = load.row %a[%zero, %zero]
    %below2: f64 = load.row %a[%k, %one]
    %scaled2: f64 = mul %below2, %pivot2
    store.row %a[%k, %one], %scaled2
    yield
  }
  for %j: i32 = %zero to %n step 1 {
    %first: f64 = load %x[%zero]
    %old: f64 = load %x[%j]
    %new: f64 = mul %old, %first
    store %x[%j], %new
    yield
  }
  yield
}

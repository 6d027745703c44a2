; arg n 4
; arg steps [ 4 ] from 2
; arg x [ 4 ]
; arg y [ 4 ]
; split
; A loop that reads a local array, which is overwritten behind it: when frames are dropped the array is kept with the first state.
kernel @env_array(%n: i32, %steps: buf<i32,1>, %x: buf<f64,1>, %y: buf<f64,1>) shape {
  %0: i64 = cast %n
  %1: i64 = cast %n
  %2: i64 = cast %n
  yield %0, %1, %2
} {
  %3: i32 = const 0
  %4: i64 = const 0
  %5: f64 = const 0.5
  %6: i32 = const 1
  %7: i64 = const 1
  %8: f64 = const 0.25
  %9: i64 = const 2
  %10: f64 = const 0.3
  %11: i32 = const 3
  parallel (%i: i32) = (%3) to (%n) {
    %12: f64 = load %x[%i]
    %a: f64[3] = array
    %a.1: f64[3] = insert %a[%4], %12
    %a.2: f64[3] = insert %a.1[%7], %5
    %a.3: f64[3] = insert %a.2[%9], %8
    %v: f64 = load %x[%i]
    %t: i32, %v.1: f64 = loop (%t.1: i32 = %3, %v.2: f64 = %v) {
      %13: i32 = load %steps[%i]
      %14: bool = ge %t.1, %13
      exit_if %14 (%t.1, %v.2)
      %15: i32 = rem %t.1, %11
      %16: i64 = cast %15
      %17: f64 = extract %a.3[%16]
      %18: f64 = mul %v.2, %17
      %19: f64 = sin %18
      %20: f64 = mul %10, %19
      %v.3: f64 = add %v.2, %20
      %t.2: i32 = add %t.1, %6
      yield %t.2, %v.3
    }
    %a.4: f64[3] = for %k: i32 = %3 to %11 step 1 (%a.5: f64[3] = %a.3) {
      %21: i64 = cast %k
      %22: f64 = extract %a.5[%21]
      %23: f64 = mul %22, %v.1
      %24: i64 = cast %k
      %a.6: f64[3] = insert %a.5[%24], %23
      yield %a.6
    }
    %25: f64 = extract %a.4[%4]
    %26: i32 = rem %n, %11
    %27: i64 = cast %26
    %28: f64 = extract %a.4[%27]
    %29: f64 = mul %25, %28
    %30: f64 = add %29, %v.1
    store %y[%i], %30
    yield
  }
  yield
}

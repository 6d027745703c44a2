; stage ad
; arg n = 5
; arg at[5] = 4 2 2 1 3
; arg x[5] = 0
; fault lanes 1 and 2 add to one element of `x`
kernel @race(%n: i32, %at: buf<i32,1>, %x: buf<f32,1>) {
  %zero: i32 = const 0
  %two: f32 = const 2
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %k: i32x4 = load.successive %at[%i] if %m
    rmw.add %x[%k], %two if %m
    yield
  }
  yield
}

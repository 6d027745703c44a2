; stage ad
; arg n = 5
; arg x[5] = 0
; fault index 5 leaves axis 0 of array `x`, extent 5
kernel @outside(%n: i32, %x: buf<f32,1>) {
  %zero: i32 = const 0
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %v: f32x4 = load.successive %x[%i]
    store.successive %x[%i], %v if %m
    yield
  }
  yield
}

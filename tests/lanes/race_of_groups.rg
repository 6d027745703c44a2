; stage ad
; arg n = 8
; arg at[8] = 4 2 0 1 3 5 0 6
; arg x[8] = 0
; arg x.adj = 1
; fault threads 2 and 6 add to one element of the adjoint of `x`
kernel @race(%n: i32, %at: buf<i32,1>, %x: buf<f32,1>) {
  %zero: i32 = const 0
  %two: f32 = const 2
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %k: i32x4 = load.successive %at[%i] if %m
    rmw.add.adj %x[%k], %two if %m
    yield
  }
  yield
}

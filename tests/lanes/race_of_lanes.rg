; Two ops of one group: they were two threads, which other groups may separate.
; stage ad
; arg n = 4
; arg x[5] = 0
; arg x.adj = 1
; fault threads 1 and 0 add to one element of the adjoint of `x`
kernel @race(%n: i32, %x: buf<f32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: f32 = const 2
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %j: i32 = add %i, %one
    rmw.add.successive.adj %x[%i], %two if %m
    rmw.add.successive.adj %x[%j], %two if %m
    yield
  }
  yield
}

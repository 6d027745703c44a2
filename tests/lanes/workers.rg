; Groups of several workers: additions to elements of their own, to elements that groups share (sums for which
; workers have cells, and others), a last group of four.
; stage ad
; arg n = 100004
; arg x[100004] = 2.5
; arg y[100004] = 1
; arg z[16] = 1
; arg k[16] = 0
; want y = 3.5
; want z = 15628.5 15628.5 15628.5 15628.5 15626
; want k = 6251 6251 6251 6251 6250
kernel @workers(%n: i32, %x: buf<f32,1>, %y: buf<f32,1>, %z: buf<f32,1>, %k: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: f32 = const 2.5
  parallel (%i: i32, %m: boolx16) = (%zero) to (%n) {
    %v: f32x16 = load.successive %x[%i] if %m
    rmw.add.successive.atomic %y[%i], %v if %m
    %l: i32x16 = lane
    rmw.add.atomic %z[%l], %two if %m
    rmw.add.atomic %k[%l], %one if %m
    yield
  }
  yield
}

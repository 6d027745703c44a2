; stage source
; A thread's own elements: x[i][j] and z[i]; w[0], and y[i - 1] with y[i] belong to several threads.
; count ad_own_atomics rmw 5
; count ad_own_atomics load 5
; count ad_own_atomics store 3
; arg n = 3
; arg x[3,2] = 1 2 3 4 5 6
; arg z[3] = 5 1 3
; arg w[1] = 0
; arg y[4] = 0
; want x = 1 1.5 2 2.5 3 3.5
; want z = 2 1 2
; want w = 6
; want y = 3 6 6 3
kernel @own(%n: i32, %x: buf<f64,2>, %z: buf<i32,1>, %w: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %1: f64 = const 1
  %half: f64 = const 0.5
  %3: f64 = const 3
  parallel (%i: i32) = (%zero) to (%n) {
    for %j: i32 = %zero to %two step 1 {
      rmw.add.atomic.row %x[%i, %j], %1
      %old: f64 = rmw.mul.atomic.row %x[%i, %j], %half
      %seen: f64 = load.row %x[%i, %j]
      rmw.add.atomic %w[%zero], %half
      yield
    }
    rmw.min.atomic %z[%i], %two
    %small: i32 = load %z[%i]
    %k: i32 = rmw.exchange.atomic %z[%i], %small
    %up: i32 = add %i, %one
    rmw.add.atomic %w[%zero], %1
    rmw.add.atomic %y[%i], %3
    rmw.add.atomic %y[%up], %3
    yield
  }
  yield
}

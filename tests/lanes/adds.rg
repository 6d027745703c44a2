; Each lane adds to its own element; groups meet at one element atomically.
; stage ad
; arg n = 5
; arg at[5] = 4 2 0 1 3
; arg x[5] = 0
; arg x.adj = 1
; arg s[1] = 0
; arg s.adj = 0
; want x.adj = 11 11 11 11 11
; want s.adj = 25
kernel @adds(%n: i32, %at: buf<i32,1>, %x: buf<f32,1>, %s: buf<f32,1>) {
  %zero: i32 = const 0
  %two: f32 = const 2
  %three: f32 = const 3
  %five: f32 = const 5
  %none: f32 = const 0
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %k: i32x4 = load.successive %at[%i] if %m
    %l: i32x4 = lane
    %j: i32x4 = add %i, %l
    rmw.add.adj.atomic %x[%k], %two if %m
    rmw.add.adj.atomic %x[%j], %three if %m
    rmw.add.successive.adj.atomic %x[%i], %five if %m
    %v: f32x4 = select %m, %five, %none
    %t: f32 = lanes_reduce.add %v
    rmw.add.adj.atomic %s[%zero], %t
    yield
  }
  yield
}

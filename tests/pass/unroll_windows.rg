; A loop that adds to the neighbours of what it has added to before runs four iterations at a time (%y), or goes where it has few
; (%x); one that adds to the same elements stays (%z).
; stage slots
; count opt_unroll_windows for 3
; count opt_unroll_windows rmw 11
; arg n = 11
; arg taps = 6
; arg w[6] = 1 10 100 1000 10000 100000
; arg x[24] = 0
; arg x.adj = 0
; arg y[24] = 0
; arg y.adj = 0
; arg z[24] = 0
; arg z.adj = 0
; want x.adj = 1 11 111 1111 11111 11111 11111 11111 11111 11111 11111 11110 11100 11000 10000 0 0 0 0 0 0 0 0 0
; want y.adj = 1 11 111 1111 11111 111111 111111 111111 111111 111111 111111 111110 111100 111000 110000 100000 0 0 0 0 0 0 0 0
; want z.adj = 11111 11111 11111 11111 11111 11111 11111 11111 11111 11111 11111 0 0 0 0 0 0 0 0 0 0 0 0 0
kernel @taps(%n: i32, %taps: i32, %w: buf<f64,1>, %x: buf<f64,1>, %y: buf<f64,1>, %z: buf<f64,1>) {
  %zero: i32 = const 0
  %five: i32 = const 5
  parallel (%i: i32, %m: boolx8) = (%zero) to (%n) {
    for %k: i32 = %zero to %five step 1 {
      %v: f64 = load %w[%k]
      %at: i32 = add %i, %k
      rmw.add.successive.adj.atomic %x[%at], %v if %m
      yield
    }
    for %l: i32 = %zero to %taps step 1 {
      %u: f64 = load %w[%l]
      %to: i32 = add %i, %l
      rmw.add.successive.adj.atomic %y[%to], %u if %m
      yield
    }
    for %q: i32 = %zero to %five step 1 {
      %s: f64 = load %w[%q]
      rmw.add.successive.adj.atomic %z[%i], %s if %m
      yield
    }
    yield
  }
  yield
}

; stage ad
; Elements to which all threads add get their sums afterwards, through loops and ifs; where a plane is read too, or the
; subscript is a thread's own, additions stay. No thread reaches the last element of %w, which is not there.
; count opt_shared_sums parallel 2
; count opt_shared_sums rmw 8
; arg n = 4
; arg k = 1
; arg none = 0
; arg w[3] = 0
; arg w.adj = 1 2 3
; arg h[2] = 0
; arg h.adj = 0.5
; arg y[4] = 1 2 3 4
; arg y.adj = 0
; arg z[1] = 0
; arg z.adj = 1
; want w.adj = 11 32 7
; want h.adj = 10.5 3.5
; want y.adj = 1 2 3 4
; want z.adj = 11
; want return = 10
kernel @shared(%n: i64, %k: i64, %none: i64, %w: buf<f32,1>, %h: buf<f16,1>, %y: buf<f32,1>, %z: buf<f32,1>) -> (f32) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %three: i64 = const 3
  %nil: f32 = const 0
  %two: f32 = const 2
  %s: f32 = parallel (%i: i64) = (%zero) to (%n) reduce (add %nil) {
    %v: f32 = load %y[%i]
    %v16: f16 = cast %v
    %kk: i64 = add %k, %one
    rmw.add.adj.atomic %w[%zero], %v
    for %j: i64 = %zero to %i step 1 {
      rmw.add.adj.atomic %w[%k], %v
      %mine: bool = eq %j, %one
      if %mine {
        rmw.add.adj.atomic %w[%kk], %two
        yield
      } else {
        yield
      }
      yield
    }
    rmw.add.adj.atomic %w[%k], %v
    rmw.add.adj.atomic %h[%zero], %v16
    %last: bool = eq %i, %three
    if %last {
      %one16: f16 = const 3
      rmw.add.adj.atomic %h[%one], %one16
      yield
    } else {
      yield
    }
    rmw.add.adj.atomic %y[%i], %v
    %old: f32 = load.adj %z[%zero]
    rmw.add.adj.atomic %z[%zero], %v
    yield %v
  }
  parallel (%i2: i64) = (%zero) to (%none) {
    %hundred: i64 = const 100
    rmw.add.adj.atomic %w[%hundred], %two
    yield
  }
  yield %s
}

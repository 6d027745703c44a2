; stage ad
; What is taken of %y is cleared at the end, behind the other elements of it; of %x, which is read again, before that;
; of %w nothing waits for what was read, and where it was 0 nothing is stored.
; count opt_late_zeros bitcast 1
; arg n = 6
; arg y[2,6] = 0
; arg y.adj = 1 2 3 4 5 6 7 8 9 10 11 12
; arg x[6] = 0
; arg x.adj = 1 0 3 0 5 6
; arg w[6] = 0
; arg w.adj = 2 0 -0.0 3 0 1
; arg z[6] = 0
; arg again[6] = 1
; want y.adj = 0
; want x.adj = 0
; want w.adj = 0
; want z = 9 10 15 14 21 24
; want again = 0
kernel @late(%n: i64, %y: buf<f32,2>, %x: buf<f32,1>, %w: buf<f32,1>, %z: buf<f32,1>, %again: buf<f32,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %nil: f32 = const 0
  parallel (%i: i64, %m: boolx4) = (%zero) to (%n) {
    %a: f32x4 = load.successive.adj %y[%zero, %i] if %m
    store.successive.adj %y[%zero, %i], %nil if %m
    %b: f32x4 = load.successive.adj %y[%one, %i] if %m
    store.successive.adj %y[%one, %i], %nil if %m
    %c: f32x4 = load.successive.adj %x[%i] if %m
    store.successive.adj %x[%i], %nil if %m
    %s: f32x4 = add %a, %b
    %t: f32x4 = add %s, %c
    store.successive %z[%i], %t if %m
    %d: f32x4 = load.successive.adj %x[%i] if %m
    store.successive %again[%i], %d if %m
    %e: f32x4 = load.successive.adj %w[%i] if %m
    store.successive.adj %w[%i], %nil if %m
    yield
  }
  yield
}

; Groups of four threads, the last of three: successive, gathered and scattered elements, masks, broadcast.
; stage ad
; arg n = 7
; arg s = 10
; arg at[7] = 6 5 4 3 2 1 0
; arg x[7] = 1 2 3 4 5 6 7
; arg y[7] = 0
; arg z[7] = 0
; arg one[1] = 0
; want y = 10 20 30 40 50 60 70
; want z = -7 -6 -5 4 3 2 1
; want one = 7
kernel @elements(%n: i32, %s: f32, %at: buf<i32,1>, %x: buf<f32,1>, %y: buf<f32,1>, %z: buf<f32,1>, %one: buf<f32,1>) {
  %zero: i32 = const 0
  %three: i32 = const 3
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %v: f32x4 = load.successive %x[%i] if %m
    %w: f32x4 = mul %v, %s
    store.successive %y[%i], %w if %m
    %k: i32x4 = load.successive %at[%i] if %m
    %g: f32x4 = load %x[%k] if %m
    %l: i32x4 = lane
    %j: i32x4 = add %i, %l
    %c: boolx4 = lt %j, %three
    %d: f32x4 = neg %g
    %e: f32x4 = select %c, %d, %g
    store %z[%j], %e if %m
    store %one[%zero], %v if %m
    yield
  }
  yield
}

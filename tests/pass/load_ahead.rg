; stage ad
; The load of %y goes before the loop, with its subscript; that of %x stays behind the stores to it, and that of %z, whose
; subscript the loop makes.
; arg n = 6
; arg x[6] = 1 2 3 4 5 6
; arg y[12] = 5 4 3 2 1 0 9 9 9 9 9 9
; arg z[6] = 6 5 4 3 2 1
; arg r[6] = 0
; want x = 3 4 5 6 7 8
; want r = 14 15 16 17 18 19
kernel @ahead(%n: i64, %x: buf<f32,1>, %y: buf<f32,1>, %z: buf<f32,1>, %r: buf<f32,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %two: i64 = const 2
  %more: f32 = const 1
  parallel (%i: i64, %m: boolx2) = (%zero) to (%n) {
    %lane: i64x2 = lane
    %own: i64x2 = add %i, %lane
    %start: f32x2 = splat %more
    %a: f32x2, %k: i64x2 = for %t: i64 = %zero to %two step 1 (%b: f32x2 = %start, %j: i64x2 = %own) {
      %p: f32x2 = load.successive %x[%i] if %m
      %q: f32x2 = add %p, %more
      store.successive %x[%i], %q if %m
      %c: f32x2 = add %b, %more
      yield %c, %j
    }
    %six: i64 = const 6
    %l: i64x2 = add %own, %six
    %d: f32x2 = load %y[%l] if %m
    %e: f32x2 = load.successive %x[%i] if %m
    %f: f32x2 = load %z[%k] if %m
    %g: f32x2 = add %a, %d
    %h: f32x2 = add %g, %e
    %s: f32x2 = mul %f, %more
    %u: f32x2 = sub %h, %s
    %v: f32x2 = add %u, %s
    %o: f32x2 = sub %v, %more
    store.successive %r[%i], %o if %m
    yield
  }
  yield
}

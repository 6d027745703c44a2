; stage tape
; A chunk of four iterations becomes straight code; a loop beside which nothing is recorded stays one.
; count opt_unroll_chunks for 2
; count opt_unroll_chunks load 5
; arg n = 3
; arg x[12,3] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36
; arg y[2,3] = 0
; want y = 38.041015625 40.033203125 42.025390625 8.1640625 10.1328125 12.1015625
kernel @chunks(%n: i64, %x: buf<f32,2>, %y: buf<f32,2>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %two: i64 = const 2
  %four: i64 = const 4
  %half: f32 = const 0.5
  parallel (%i: i64, %m: boolx4) = (%zero) to (%n) {
    %first: cursor = tape_begin
    %nil: f32x4 = splat %half
    %v: f32x4, %last: cursor = for %g: i64 = %zero to %two step 1 (%a: f32x4 = %nil, %c: cursor = %first) {
      %base: i64 = mul %g, %four
      %r: f32x4 = for %j: i64 = %zero to %four step 1 (%b: f32x4 = %a) {
        %k: i64 = add %base, %j
        %e: f32x4 = load.successive %x[%k, %i] if %m
        %s: f32x4 = mul %b, %half
        %t: f32x4 = add %s, %e
        yield %t
      }
      %c1: cursor = tape_push %c, %a
      yield %r, %c1
    }
    %b1: cursor, %w: f32x4 = tape_pop %last
    %u: f32x4 = for %j1: i64 = %zero to %two step 1 (%b2: f32x4 = %w) {
      %e1: f32x4 = load.successive %x[%j1, %i] if %m
      %s1: f32x4 = mul %b2, %half
      %t1: f32x4 = add %s1, %e1
      yield %t1
    }
    store.successive %y[%zero, %i], %v if %m
    store.successive %y[%one, %i], %u if %m
    yield
  }
  yield
}

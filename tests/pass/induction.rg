; Counters and pointers that move with a loop's index, upwards, downwards, through a nest, by a number that is not known, in a type of their
; own; one that grows by what changes stays.
; count opt_induction for 4
; arg n = 3
; arg m = 4
; arg x[12] = 1 2 3 4 5 6 7 8 9 10 11 12
; arg y[12] = 0
; arg z[3] = 0
; want y = 1 4 9 16 25 36 49 64 81 100 121 144
; want z = 5 9 13
; want return = 12
; want return1 = 13
; want return2 = 6
; want return3 = 250
kernel @induction(%n: i32, %m: i32, %x: buf<f32,1>, %y: buf<f32,1>, %z: buf<f32,1>) -> (i64, i32, i32, u8) {
  %zero: i32 = const 0
  %zero64: i64 = const 0
  %one: i32 = const 1
  %one64: i64 = const 1
  %end: i64 = for %i: i32 = %zero to %n step 1 (%p: i64 = %zero64) {
    %q: i64 = for %j: i32 = %m to %zero step -1 (%r: i64 = %p) {
      %v: f32 = load %x[%r]
      %w: f32 = mul %v, %v
      store %y[%r], %w
      %s: i64 = add %r, %one64
      yield %s
    }
    yield %q
  }
  %last: i32 = for %a: i32 = %zero to %n step 1 (%b: i32 = %one) {
    %u: f32 = load %x[%b]
    %half: f32 = const 0.5
    %b1: i32 = add %m, %b
    %f: f32 = cast %b1
    %g: f32 = fma %u, %half, %f
    %h: f32 = mul %u, %half
    %k: f32 = sub %g, %h
    store %z[%a], %k
    yield %b1
  }
  %sum: i32 = for %c: i32 = %zero to %m step 1 (%d: i32 = %zero) {
    %d1: i32 = add %d, %c
    yield %d1
  }
  %u0: u8 = const 0
  %u2: u8 = const 2
  %wraps: u8 = for %e: i32 = %zero to %n step 1 (%o: u8 = %u0) {
    %o1: u8 = sub %o, %u2
    yield %o1
  }
  yield %end, %last, %sum, %wraps
}

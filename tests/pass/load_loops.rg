; stage slots
; A loop that only loads and computes runs four iterations at a time, and what is left: which of the largest comes first, for
; lengths that are and are no multiple of four, and none. One that stores stays as it is.
; count opt_unroll_counted for 3
; count opt_unroll_counted load 8
; arg n = 5
; arg m[5] = 0 3 4 9 11
; arg x[12] = 1 5 2 7 7 3 0 9 8 11 4 10
; arg y[12] = 0
; arg best[5] = 0
; arg where[5] = 0
; want best = 0 5 7 9 11
; want where = -1 1 3 7 9
; want y = 1 5 2 7 7 3 0 9 8 11 4 0
kernel @largest(%n: i64, %m: buf<i32,1>, %x: buf<f32,1>, %y: buf<f32,1>, %best: buf<f32,1>, %where: buf<i32,1>) {
  %zero: i64 = const 0
  %z: i32 = const 0
  %none: i32 = const -1
  %nil: f32 = const 0
  parallel (%i: i64) = (%zero) to (%n) {
    %end: i32 = load %m[%i]
    %most: f32, %at: i32 = for %k: i32 = %z to %end step 1 (%a: f32 = %nil, %b: i32 = %none) {
      %v: f32 = load %x[%k]
      %c: bool = gt %v, %a
      %d: f32 = select %c, %v, %a
      %e: i32 = select %c, %k, %b
      yield %d, %e
    }
    store %best[%i], %most
    store %where[%i], %at
    yield
  }
  %last: i64 = const 4
  parallel (%j: i64) = (%last) to (%n) {
    %end2: i32 = load %m[%j]
    for %k2: i32 = %z to %end2 step 1 {
      %u: f32 = load %x[%k2]
      store %y[%k2], %u
      yield
    }
    yield
  }
  yield
}

; Sums of groups: rows of five threads in groups of four.
; stage ad
; arg n = 3
; arg c = 5
; arg x[3,5] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
; arg out[3] = 0
; arg any[1] = 0
; want out = 220 15 -1
; want any = 2
kernel @reduce(%n: i32, %c: i32, %x: buf<f32,2>, %out: buf<f32,1>, %any: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %start: f32 = const 100
  %least: f32 = const -inf
  %no: i32 = const 0
  %none: f32 = const 0
  %sum: f32, %most: f32, %least1: f32, %bits: i32 = parallel (%i: i32, %j: i32, %m: boolx4) = (%zero, %zero) to (%n, %c) reduce (add %start, max %least, min %start, or %no) {
    %v: f32x4 = load.successive %x[%i, %j] if %m
    %inf: f32 = const inf
    %low: f32x4 = neg %v
    %first: f32 = const -1
    %low1: f32x4 = max %low, %first
    %a: f32x4 = select %m, %v, %none
    %b: f32x4 = select %m, %v, %least
    %d: f32x4 = select %m, %low1, %inf
    %e: i32x4 = select %m, %two, %zero
    yield %a, %b, %d, %e
  }
  store %out[%zero], %sum
  store %out[%one], %most
  store %out[%two], %least1
  store %any[%zero], %bits
  yield
}

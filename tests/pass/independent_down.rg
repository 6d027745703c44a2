; Loops that count downwards, from a number that may be the greatest, and by more than one, become parallel ones that count upwards; one
; that reads what a later iteration writes stays.
; arg n = 40
; arg x[41] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 0
; arg y[41] = 0
; arg z[41] = 0
; arg w[41] = 0
; arg v[41] = 0
; want y = 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225 256 289 324 361 400 441 484 529 576 625 676 729 784 841 900 961 1024 1089 1156 1225 1296 1369 1444 1521 1600 0
; want z = 0 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 0
; want w = 0 0 0 4 0 0 7 0 0 10 0 0 13 0 0 16 0 0 19 0 0 22 0 0 25 0 0 28 0 0 31 0 0 34 0 0 37 0 0 40 0
; want v = 40 39 38 37 36 35 34 33 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0
; count ad_independent parallel 3
; count ad_independent for 1
kernel @down(%n: i32, %x: buf<f32,1>, %y: buf<f32,1>, %z: buf<f32,1>, %w: buf<f32,1>, %v: buf<f32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %none: i32 = const -1
  %last: i32 = sub %n, %one
  for %i: i32 = %last to %none step -1 {
    %a: f32 = load %x[%i]
    %b: f32 = mul %a, %a
    store %y[%i], %b
    yield
  }
  for %j: i32 = %n to %one step -1 {
    %at: i32 = sub %j, %one
    %c: f32 = load %x[%at]
    store %z[%at], %c
    yield
  }
  for %k: i32 = %last to %two step -3 {
    %d: f32 = load %x[%k]
    store %w[%k], %d
    yield
  }
  for %l: i32 = %last to %none step -1 {
    %next: i32 = add %l, %one
    %e: f32 = load %v[%next]
    %f: f32 = cast %one
    %g: f32 = add %e, %f
    store %v[%l], %g
    yield
  }
  yield
}

; stage source
; A serial loop whose iterations write elements of their own becomes parallel, and so does a nest; one that reads what another iteration
; writes stays, as does one that carries a sum.
; arg n = 4
; arg m = 3
; arg x[12] = 1 2 3 4 5 6 7 8 9 10 11 12
; arg y[12] = 0
; arg z[5] = 1 0
; arg s[1] = 0
; want y = 1 4 9 16 25 36 49 64 81 100 121 144
; want z = 1 2 3 4 5
; want s = 10
; count ad_independent parallel 1
; count ad_independent for 2
kernel @independent(%n: i32, %m: i32, %x: buf<f32,1>, %y: buf<f32,1>, %z: buf<f32,1>, %s: buf<f32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %start: f32 = const 0
  for %i: i32 = %zero to %n step 1 {
    %row: i32 = mul %i, %m
    for %j: i32 = %zero to %m step 1 {
      %k: i32 = add %row, %j
      %v: f32 = load %x[%k]
      %w: f32 = mul %v, %v
      store %y[%k], %w
      yield
    }
    yield
  }
  for %a: i32 = %zero to %n step 1 {
    %old: f32 = load %z[%a]
    %b: i32 = add %a, %one
    %unit: f32 = cast %one
    %new: f32 = add %old, %unit
    store %z[%b], %new
    yield
  }
  %sum: f32 = for %c: i32 = %zero to %n step 1 (%t: f32 = %start) {
    %u: f32 = load %z[%c]
    %tt: f32 = add %t, %u
    yield %tt
  }
  store %s[%zero], %sum
  yield
}

; Local arrays with lanes: uniform and varying subscripts, masks, tables.
; stage ad
; arg n = 5
; arg at[5] = 2 0 1 2 1
; arg x[5] = 1 2 3 4 5
; arg y[5,3] = 0
; arg z[5] = 0
; want y = 1 10 100 2 20 30 3 30 30 4 10 400 5 50 30
; want z = 100 2 30 400 50
kernel @arrays(%n: i32, %at: buf<i32,1>, %x: buf<f32,1>, %y: buf<f32,2>, %z: buf<f32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %e0: i64 = const 0
  %e1: i64 = const 1
  %e2: i64 = const 2
  %ten: f32 = const 10
  %hundred: f32 = const 100
  %thirty: f32 = const 30
  %t: f32[3] = table {10, 30, 100}
  parallel (%i: i32, %m: boolx2) = (%zero) to (%n) {
    %v: f32x2 = load.successive %x[%i] if %m
    %k: i32x2 = load.successive %at[%i] if %m
    %k1: i64x2 = cast %k
    %a: f32x2[3] = array
    %a1: f32x2[3] = insert %a[%e0], %v
    %w: f32x2 = mul %v, %ten
    %a2: f32x2[3] = insert %a1[%e1], %ten
    %a3: f32x2[3] = insert %a2[%e2], %thirty
    %b: f32x2[3] = copy %a3
    %f: f32x2 = extract %t[%k1] if %m
    %u: f32x2 = mul %v, %f
    %four: f32 = const 4
    %not: boolx2 = ne %v, %four
    %part: boolx2 = and %not, %m
    %a4: f32x2[3] = insert %a3[%e1], %w if %part
    %big: boolx2 = gt %k, %one
    %part1: boolx2 = and %big, %m
    %c1: f32x2 = mul %v, %hundred
    %a5: f32x2[3] = insert %a4[%k1], %c1 if %part1
    %l: i32x2 = lane
    %j: i32x2 = add %i, %l
    %r0: f32x2 = extract %a5[%e0]
    store %y[%j, %zero], %r0 if %m
    %r1: f32x2 = extract %a5[%e1]
    store %y[%j, %one], %r1 if %m
    %r2: f32x2 = extract %a5[%e2] if %m
    store %y[%j, %two], %r2 if %m
    %r: f32x2 = extract %a5[%k1] if %m
    store.successive %z[%i], %r if %m
    yield
  }
  yield
}

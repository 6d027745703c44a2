; A slot whose rows become its columns, in lanes; of floats, wide ones, and small integers.
; stage slots
; arg n = 4
; arg x[16] = 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
; arg y[16] = 0
; arg z[4] = 0
; want y = 0 4 8 12 1 5 9 13 2 6 10 14 3 7 11 15
; want z = 1 2 2 1
kernel @turn(%n: i32, %x: buf<f32,1>, %y: buf<f32,1>, %z: buf<i8,1>) {
  %zero: i32 = const 0
  %e0: i64 = const 0
  %e1: i64 = const 1
  %e2: i64 = const 2
  %e3: i64 = const 3
  %four: i32 = const 4
  %eight: i32 = const 8
  %twelve: i32 = const 12
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %a: slot<f32x4,4> = slot
    %b: slot<f64x4,4> = slot
    %c: slot<i8x4,4> = slot
    %r0: f32x4 = load.successive %x[%zero]
    %r1: f32x4 = load.successive %x[%four]
    %r2: f32x4 = load.successive %x[%eight]
    %r3: f32x4 = load.successive %x[%twelve]
    slot_store %a[%e0], %r0
    slot_store %a[%e1], %r1
    slot_store %a[%e2], %r2
    slot_store %a[%e3], %r3
    slot_turn %a
    %s0: f32x4 = slot_load %a[%e0]
    %s1: f32x4 = slot_load %a[%e1]
    %s2: f32x4 = slot_load %a[%e2]
    %s3: f32x4 = slot_load %a[%e3]
    %w0: f64x4 = cast %s0
    %w1: f64x4 = cast %s1
    %w2: f64x4 = cast %s2
    %w3: f64x4 = cast %s3
    slot_store %b[%e0], %w0
    slot_store %b[%e1], %w1
    slot_store %b[%e2], %w2
    slot_store %b[%e3], %w3
    slot_turn %b
    slot_turn %b
    %t0: f64x4 = slot_load %b[%e0]
    %t1: f64x4 = slot_load %b[%e1]
    %t2: f64x4 = slot_load %b[%e2]
    %t3: f64x4 = slot_load %b[%e3]
    %u0: f32x4 = cast %t0
    %u1: f32x4 = cast %t1
    %u2: f32x4 = cast %t2
    %u3: f32x4 = cast %t3
    store.successive %y[%zero], %u0
    store.successive %y[%four], %u1
    store.successive %y[%eight], %u2
    store.successive %y[%twelve], %u3
    slot_zero %c
    %one: i8 = const 1
    %two: i8 = const 2
    slot_store %c[%e0], %one
    slot_store %c[%e1], %two
    slot_store %c[%e2], %two
    slot_store %c[%e3], %one
    slot_turn %c
    %v: i8x4 = slot_load %c[%e2]
    store.successive %z[%zero], %v
    yield
  }
  yield
}

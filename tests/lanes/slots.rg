; Slots with lanes, and gathers from slots without.
; stage slots
; arg n = 3
; arg x[3] = 1 2 3
; arg y[3] = 0
; want y = 14 18 22
kernel @slots(%n: i32, %x: buf<f32,1>, %y: buf<f32,1>) {
  %zero: i32 = const 0
  %e0: i64 = const 0
  %e1: i64 = const 1
  %ten: f32 = const 10
  parallel (%i: i32, %m: boolx2) = (%zero) to (%n) {
    %a: slot<f32x2,2> = slot
    %b: slot<f32x2,2> = slot
    %u: slot<f32,2> = slot
    slot_zero %a
    slot_store %u[%e0], %ten
    slot_store %u[%e1], %ten
    %v: f32x2 = load.successive %x[%i] if %m
    slot_store %a[%e1], %v if %m
    slot_copy %b, %a
    slot_store %b[%e0], %v
    slot_store %a[%e1], %ten
    %l: i64x2 = lane
    %p: f32x2 = slot_load %a[%l]
    %q: f32x2 = slot_load %b[%e1]
    %r: f32x2 = slot_load %u[%l]
    %k: i64 = cast %i
    %w: f32x2 = slot_load %b[%e0] if %m
    %s: f32x2 = add %q, %w
    %t: f32x2 = add %s, %w
    %d: f32x2 = add %t, %r
    %odd: f32x2 = sub %p, %p
    %d1: f32x2 = add %d, %odd
    %d2: f32x2 = add %d1, %v
    store.successive %y[%i], %d2 if %m
    yield
  }
  yield
}

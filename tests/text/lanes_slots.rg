; stage: slots
kernel @slots(%n: i32, %x: buf<f32,1>) {
  %zero: i32 = const 0
  parallel (%i: i32, %m: boolx8) = (%zero) to (%n) {
    %a: slot<f32x8,3> = slot
    %b: slot<f32x8,3> = slot
    %s: slot<boolx8,3> = slot
    %u: slot<f32,4> = slot
    %k: i64 = cast %i
    %l: i64x8 = lane
    slot_zero %a
    slot_copy %b, %a
    %v: f32x8 = load.successive %x[%i] if %m
    slot_store %b[%k], %v if %m
    slot_store %b[%l], %v
    slot_store %s[%k], %m
    %w: f32x8 = slot_load %u[%l] if %m
    %r: f32x8 = slot_load %b[%l]
    %t: f32x8 = add %w, %r
    store.successive %x[%i], %t if %m
    yield
  }
  yield
}

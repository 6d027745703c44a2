; Frames of a group: vectors, masks as bits, arrays, beside scalars.
; stage tape
; arg n = 6
; arg x[6] = 1 2 3 4 5 6
; arg y[6] = 0
; arg count[2] = 0
; want y = 3 6 9 13 16 19
; want count = 4 2
kernel @tape(%n: i32, %x: buf<f32,1>, %y: buf<f32,1>, %count: buf<i32,1>) {
  %zero: i32 = const 0
  %e1: i64 = const 1
  %limit: f32 = const 3.5
  parallel records (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %c: cursor = tape_begin
    %v: f32x4 = load.successive %x[%i] if %m
    %b: boolx4 = gt %v, %limit
    %a: f32x4[2] = array
    %w: f32x4 = add %v, %v
    %a1: f32x4[2] = insert %a[%e1], %w
    %bits: u64 = lanes_bits %m
    %k: u64 = popcount %bits
    %k1: i32 = cast %k
    %c1: cursor = tape_push %c, %v, %a1, %b, %k1
    tape_end %c1
    yield
  }
  parallel rewinds (%i1: i32, %m1: boolx4) = (%zero) to (%n) {
    %c2: cursor = tape_begin
    %c3: cursor, %v1: f32x4, %a2: f32x4[2], %b1: boolx4, %k2: i32 = tape_pop %c2
    %u: f32x4 = extract %a2[%e1]
    %s: f32x4 = add %u, %v1
    %more: f32 = const 1
    %p: f32x4 = add %s, %more
    %r: f32x4 = select %b1, %p, %s
    store.successive %y[%i1], %r if %m1
    %four: i32 = const 4
    %g: i32 = div %i1, %four
    store %count[%g], %k2
    tape_end %c3
    yield
  }
  yield
}

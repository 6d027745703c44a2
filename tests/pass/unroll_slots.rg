; A nest over a local array becomes its iterations, and so does a loop that runs backwards; one whose index is no subscript of it
; stays.
; stage slots
; count opt_unroll_slots for 1
; arg n = 3
; arg x[3] = 1 2 3
; arg y[3] = 0
; want y = 30 60 90
kernel @slots(%n: i32, %x: buf<f32,1>, %y: buf<f32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %three: i32 = const 3
  %down: i32 = const -1
  %nil: f32 = const 0
  parallel (%i: i32, %m: boolx2) = (%zero) to (%n) {
    %w: slot<f32x2,6> = slot
    %v: f32x2 = load.successive %x[%i] if %m
    for %a: i32 = %zero to %three step 1 {
      for %b: i32 = %zero to %two step 1 {
        %row: i32 = mul %a, %two
        %k: i32 = add %row, %b
        %at: i64 = cast %k
        %f: f32 = cast %k
        %e: f32x2 = mul %v, %f
        slot_store %w[%at], %e
        yield
      }
      yield
    }
    %last: i32 = add %two, %zero
    %start: f32x2 = splat %nil
    %sum: f32x2 = for %c: i32 = %last to %down step -1 (%s: f32x2 = %start) {
      %row2: i32 = mul %c, %two
      %odd: i32 = add %row2, %one
      %even: i64 = cast %row2
      %other: i64 = cast %odd
      %p: f32x2 = slot_load %w[%even]
      %q: f32x2 = slot_load %w[%other]
      %pq: f32x2 = add %p, %q
      %s2: f32x2 = add %s, %pq
      yield %s2
    }
    %twice: f32x2 = for %d: i32 = %zero to %two step 1 (%t: f32x2 = %start) {
      %t2: f32x2 = add %t, %sum
      yield %t2
    }
    store.successive %y[%i], %twice if %m
    yield
  }
  yield
}

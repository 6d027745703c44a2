; stage: tape
kernel @lanes(%n: i32, %a: f32, %x: buf<f32,1>, %y: buf<f32,2>, %steps: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i64 = const 1
  %none: f32 = const 0
  %no: bool = const false
  %t: f32[3] = table {1, 2.5, -0}
  %sum: f32, %all: bool = parallel records (%i: i32, %m: boolx16) = (%zero) to (%n) reduce (add %none, or %no) {
    %l: i32x16 = lane
    %at: i32x16 = add %i, %l
    %v: f32x16 = load.successive %x[%i] if %m
    %k: i32x16 = load.successive %steps[%i]
    %w: f32x16 = load %y[%at, %zero] if %m @ lanes.c:3:4
    %u: f32x16 = fma %v, %a, %w
    %s: f32x16 = splat %a
    %c: boolx16 = gt %u, %s
    %any: bool = lanes_any %c
    %r: f32x16 = if %any {
      %d: f32x16 = select %c, %u, %none
      yield %d
    } else {
      yield %s
    }
    %z: i64x16 = cast %k
    %e: f32x16 = extract %t[%z] if %c
    %b: f32x16[5] = array
    %b1: f32x16[5] = insert %b[%one], %a if %m
    %b2: f32x16[5] = insert %b1[%z], %e
    %f: f32x16 = extract %b2[%one] if %c
    store.successive %x[%i], %f if %m
    store %y[%at, %k], %r if %c
    store %x[%zero], %r
    rmw.add.successive.adj.d1.of8 %x[%i], %r if %m
    rmw.add.adj %y[%at, %zero], %a
    %bits: u64 = lanes_bits %c
    %top: f32 = lanes_reduce.max %r
    %first: f32 = lane_get %r, %i
    %last: f32x16 = lane_set %r, %i, %first
    %cursor: cursor = tape_begin
    %c1: cursor = tape_push %cursor, %last, %c, %b2, %bits, %top
    yield %last, %c
  }
  parallel rewinds (%i1: i32, %j1: i32, %m1: boolx8) = (%zero, %zero) to (%n, %n) {
    %c2: cursor = tape_begin
    %c3: cursor, %last.1: f32x8, %c.1: boolx8, %b2.1: f32x8[5] = tape_pop %c2
    if %all {
      yield
    }
    yield
  }
  yield
}

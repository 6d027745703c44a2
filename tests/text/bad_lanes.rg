; stage: ad
; expect: @k: 8 lanes here, and 16 before: a parallel loop has one width
; expect: @k: operand 0 has lanes, which it must not have
; expect: @k: operand 0 is not a scalar without lanes
; expect: @k: value 0 is not of the type that the if has there
; expect: @k: init 0 is not of the carried value's type
; expect: @k: a successive access has lanes, its subscripts have none
; expect: @k: the result has lanes, like the subscripts
; expect: @k: the result has no lanes: the subscripts have none
; expect: @k: rmw with lanes adds, gives nothing, and no two lanes have one element
; expect: @k: the value or the mask of a successive access has lanes
; expect: @k: only what has lanes is masked
; expect: @k: operand 3 is not of the type that it must have
; expect: @k: operand 0 has no lanes, and so has what is put into it
; expect: @k: f32 has no such reduction
; expect: @k: lanes are counted by integers
; expect: @k: operand 0 has not the lanes, which it must have
; expect: @k: operand 1 has lanes, which it must not have
; expect: @k: result 0 is not a scalar without lanes
; expect: @k: value 0 is not of the reduction's type, with lanes
kernel @k(%n: i32, %s: f32, %x: buf<f32,1>, %y: buf<f32,0>) {
  %zero: i32 = const 0
  %one: i64 = const 1
  %sum: f32 = parallel (%i: i32, %m: boolx16) = (%zero) to (%n) reduce (add %s) {
    %wide: i32x8 = lane
    %l: i32x16 = lane
    %f: f32x16 = load.successive %x[%i] if %m
    if %m {
      yield
    }
    for %k: i32x16 = %l to %l step 1 {
      yield
    }
    %b: bool = lanes_any %m
    %r: f32x16 = if %b {
      yield %f
    } else {
      yield %s
    }
    %q: f32x16 = for %k1: i32 = %zero to %n step 1 (%a: f32x16 = %s) {
      yield %a
    }
    %v1: f32x16 = load.successive %x[%l]
    %v2: f32 = load %x[%l]
    %v3: f32x16 = load %x[%i]
    rmw.add %x[%i], %f
    rmw.max %x[%l], %f
    store.successive %x[%i], %s
    store %x[%i], %s if %m
    store %x[%l], %s if %f
    %c: f32[3] = array
    %c1: f32[3] = insert %c[%one], %f
    %e: f32 = lanes_reduce.xor %f
    %g: f32x16 = lane
    %h: bool = lanes_any %b
    %o: f32 = lane_get %f, %l
    %const: f32x16 = const 1
    yield %s
  }
  yield
}

; What is the same in all lanes is computed without them.
; stage ad
; count simplify splat 0
; count simplify lanes_any 1
; count simplify lane_get 1
; count simplify lanes_reduce 2
; count simplify extract 1
; arg n = 3
; arg s = 2
; arg x[4] = 1 2 3 4
; arg y[4] = 0
; arg k[6] = 0
; want y = 10 18 26 0
; want k = 6 12 1 3 2 6
kernel @fold(%n: i32, %s: f32, %x: buf<f32,1>, %y: buf<f32,1>, %k: buf<f32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %three: i32 = const 3
  %four: i32 = const 4
  %five: i32 = const 5
  %e0: i64 = const 0
  %e1: i64 = const 1
  %c4: f32 = const 4
  %nothing: f32 = const -0
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %all: f32x4 = splat %s
    %w: f32x4 = splat %c4
    %p: f32x4 = mul %all, %w
    %v: f32x4 = load.successive %x[%i] if %m
    %q: f32x4 = mul %v, %p
    %r: f32x4 = add %q, %all
    %hot: boolx4 = gt %all, %nothing
    %t: f32x4 = select %hot, %r, %v
    %never: boolx4 = lt %w, %nothing
    %none: bool = lanes_any %never
    %u: f32x4 = if %none {
      %b: f32x4 = sin %t
      yield %b
    } else {
      yield %t
    }
    store.successive %y[%i], %u if %m
    %sum: f32 = lanes_reduce.add %v
    %sum1: f32 = lanes_reduce.add %v
    store %k[%zero], %sum
    %most: f32 = lanes_reduce.mul %p
    %twelve: f32 = add %sum1, %sum
    store %k[%one], %twelve
    %l: i32x4 = lane
    %first: i32 = lane_get %l, %five
    %first1: f32 = cast %first
    store %k[%two], %first1
    %v1: f32x4 = lane_set %v, %two, %c4
    %c3: f32 = const 3
    %v2: f32x4 = lane_set %v, %two, %c3
    %g: f32 = lane_get %v2, %two
    store %k[%three], %g
    %h: f32 = lane_get %v, %one
    store %k[%four], %h
    %any: bool = lanes_any %m
    %a: f32x4[2] = array
    %a1: f32x4[2] = insert %a[%e0], %s
    %d: f32x4 = extract %a1[%e0]
    %a2: f32x4[2] = insert %a1[%e1], %v if %m
    %z: f32x4 = extract %a2[%e1]
    %z1: f32x4 = add %z, %d
    %z2: f32 = lanes_reduce.max %z1
    %one1: f32 = cast %any
    %z3: f32 = add %z2, %one1
    store %k[%five], %z3
    yield
  }
  yield
}

; Ops between lanes and scalars.
; stage ad
; arg x[8] = 5 3 8 1 -2 7 4 6
; arg f[4] = 0
; arg k[8] = 0
; want f = 32 -2 8 3
; want k = 229 1 8 9 5 0 0 0
kernel @between(%x: buf<f32,1>, %f: buf<f32,1>, %k: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %three: i32 = const 3
  %four: i32 = const 4
  %nine: i32 = const 9
  %eight: i32 = const 8
  parallel (%i: i32, %m: boolx8) = (%zero) to (%eight) {
    %v: f32x8 = load.successive %x[%i] if %m
    %sum: f32 = lanes_reduce.add %v
    store %f[%zero], %sum
    %low: f32 = lanes_reduce.min %v
    store %f[%one], %low
    %high: f32 = lanes_reduce.max %v
    store %f[%two], %high
    %b: f32 = lane_get %v, %nine
    store %f[%three], %b
    %limit: f32 = const 3.5
    %c: boolx8 = gt %v, %limit
    %no: boolx8 = lt %v, %low
    %bits: u64 = lanes_bits %c
    %bits1: i32 = cast %bits
    %set: i32x8 = splat %bits1
    store %k[%zero], %bits1
    %any: bool = lanes_any %c
    %none: bool = lanes_any %no
    %any1: i32 = cast %any
    store %k[%one], %any1
    %none1: i32 = cast %none
    %l: i32x8 = lane
    %l1: i32x8 = lane_set %l, %nine, %eight
    %a: i32 = lane_get %l1, %one
    %a1: i32 = add %a, %none1
    store %k[%two], %a1
    %or: i32 = lanes_reduce.or %l1
    %xor: i32 = lanes_reduce.xor %l1
    store %k[%three], %xor
    %p: boolx8 = lt %l, %four
    %p1: u64 = lanes_bits %p
    %n: u64 = popcount %p1
    %n1: i32 = cast %n
    %n2: i32 = add %n1, %one
    store %k[%four], %n2
    yield
  }
  yield
}

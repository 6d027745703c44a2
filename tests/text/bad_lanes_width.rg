; stage: ad
; expect: @k: value g (number 5) has 3 lanes
; expect: scalars, local arrays and slots may have 2, 4, 8, ... 64 lanes
; expect: @k: the mask of a loop in groups is a bool with lanes
kernel @k(%n: i32, %x: buf<f32,1>) {
  %zero: i32 = const 0
  parallel (%i: i32) = (%zero) to (%n) {
    %l: i32 = cast %i
    %g: i32x3 = splat %l
    yield
  }
  parallel (%j: i32, %m: i32x8) = (%zero) to (%n) {
    yield
  }
  yield
}

; arg n 6
; arg steps [ 6 ] from 0 mod 40
; arg x [ 6 ]
; arg y [ 6 ]
; split
; blocks 16
; The longest blocks that registers hold, or half of that where it is nearly as good.
kernel @block_size(%n: i32, %steps: buf<i32,1>, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  parallel (%i: i32) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %m: i32 = load %steps[%i]
    %k: f64 = const 0.01
    %r: f64 = for %t: i32 = %zero to %m step 1 (%a: f64 = %v) {
      %s: f64 = sin %a
      %p: f64 = mul %s, %k
      %a1: f64 = add %a, %p
      yield %a1
    }
    store %y[%i], %r
    yield
  }
  yield
}

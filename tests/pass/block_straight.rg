; Blocks of four iterations are straight code, without a branch: what the loop ends with is asked for.
; stage ad
; count ad_blocks for 2
; count ad_blocks if 3
; count ad_blocks sin 10
; tolerance 1e-14
; arg n = 2
; arg steps[2] = 8 10
; arg x[2] = 0.25 1.5
; arg y[2] = 0
; want y = 0.01648160709263964 -0.0030359909507386555
kernel @block_straight(%n: i32, %steps: buf<i32,1>, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %one: f64 = const 1
  parallel (%i: i32) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %m: i32 = load %steps[%i]
    %count: i64 = cast %m
    %end: f64, %t: trace = for records %k: i32 = %zero to %m step 1 (%a: f64 = %v) {
      %b: f64 = sin %a
      %c: f64 = add %b, %v
      yield %c
    }
    %g: f64 = unwind %t, %count (%j: i64, %h: f64 = %one) {
      %p: f64 = recall %a
      %q: f64 = cos %p
      %r: f64 = mul %q, %h
      yield %r
    }
    %z: f64 = mul %g, %end
    store %y[%i], %z
    yield
  }
  yield
}

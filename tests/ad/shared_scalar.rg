; arg a
; arg n 4
; arg m 3
; arg x [ 4 3 ]
; arg y [ 4 3 ]
; split
; A two-dimensional domain; every thread reads a scalar parameter and a kernel-level value.
kernel @shared(%a: f64, %n: i32, %m: i32, %x: buf<f64,2>, %y: buf<f64,2>) {
  %zero: i32 = const 0
  %b: f64 = exp %a
  parallel (%i: i32, %j: i32) = (%zero, %zero) to (%n, %m) {
    %v: f64 = load %x[%i, %j]
    %s: f64 = mul %v, %b
    %t: f64 = pow %s, %a
    store %y[%i, %j], %t
    yield
  }
  yield
}

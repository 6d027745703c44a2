; arg n 3
; arg m 5
; arg x [ 3 5 ]
; arg y [ 3 5 ]
; arg w [ 5 ]
; arg z [ 3 ]
; split
; Linear loops record nothing. The running sum's reverse hands on what it adds: its iterations keep their
; order; those of the dot product's reverse may run in any.
kernel @sums_in_order(%n: i32, %m: i32, %x: buf<f64,2>, %w: buf<f64,1>, %y: buf<f64,2>, %z: buf<f64,1>) {
  %zero: i32 = const 0
  %none: f64 = const 0
  parallel (%i: i32) = (%zero) to (%n) {
    %last: f64 = for %k: i32 = %zero to %m step 1 (%s: f64 = %none) {
      %a: f64 = load %x[%i, %k]
      %t: f64 = add %s, %a
      store %y[%i, %k], %t
      yield %t
    }
    %dot: f64 = for %k2: i32 = %zero to %m step 1 (%d: f64 = %none) {
      %b: f64 = load %x[%i, %k2]
      %c: f64 = load %w[%k2]
      %p: f64 = mul %b, %c
      %e: f64 = add %d, %p
      yield %e
    }
    %both: f64 = mul %last, %dot
    store %z[%i], %both
    yield
  }
  yield
}

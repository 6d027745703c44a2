; Pointer swaps at kernel level: a selector, pick, and a temporary array.
; arg a[2] = 1 2
; arg b[2] = 10 20
; want a = 4 8
; want b = 10 20
; want return = 4
kernel @k(%a: buf<f64,1>, %b: buf<f64,1>) -> (f64) {
  %zero: i64 = const 0
  %two: i64 = const 2
  %one32: i32 = const 1
  %sel0: i32 = const 0
  %t: buf<f64,1> = temp %two
  %last: i32 = for %step: i64 = %zero to %two step 1 (%sel: i32 = %sel0) {
    %from: buf<f64,1> = pick %sel, %a, %t
    %other: i32 = sub %one32, %sel
    %into: buf<f64,1> = pick %other, %a, %t
    parallel (%i: i64) = (%zero) to (%two) {
      %v: f64 = load %from[%i]
      %w: f64 = add %v, %v
      store %into[%i], %w
      yield
    }
    yield %other
  }
  %final: buf<f64,1> = pick %last, %a, %t
  %e: i64 = extent %final, 0
  %r: f64 = load %final[%zero]
  yield %r
}

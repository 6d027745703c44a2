; Equal pure ops become one, operands in any order; what an if adds is not seen behind it, loads stay.
; count opt_cse sin 2
; count opt_cse add 4
; count opt_cse load 3
; count opt_cse extract 2
; arg x[2] = 1 2
; arg c = 1
; tolerance 1e-15
; want x = 3.736119237257488 2
; want return = 4
kernel @k(%c: bool, %x: buf<f64,1>) -> (i32) {
  %zero: i64 = const 0
  %nought: i64 = const 0
  %a: f64 = load %x[%zero]
  %a2: f64 = load %x[%zero]
  %one: i64 = const 1
  %b: f64 = load %x[%one]
  %s: f64 = add %a, %a2
  %s2: f64 = add %a2, %a
  %y: f64 = if %c {
    %u: f64 = sin %s
    %u2: f64 = sin %s2
    %v: f64 = mul %u, %u2
    yield %v
  } else {
    yield %b
  }
  %w: f64 = sin %s
  %z: f64 = add %y, %w
  %two: f64 = const 2
  %z2: f64 = add %z, %two
  store %x[%zero], %z2
  %t: i32[2] = table {1, 2}
  %t2: i32[2] = table {1, 2}
  %t3: i32[2] = table {2, 1}
  %e: i32 = extract %t[%one]
  %e2: i32 = extract %t2[%one]
  %e3: i32 = extract %t3[%zero]
  %f: i32 = add %e, %e3
  yield %f
}

; Ifs on constants, loops that run never or once, results that need no if.
; count simplify if 1
; count simplify for 0
; count simplify loop 0
; count simplify select 1
; arg c = 1
; arg x = 2.5
; arg out[4] = 0
; want return = 5
; want return1 = 3
; want return2 = 1
; want return3 = 2.5
; want out = 5 2.5 0 7
kernel @k(%c: bool, %x: f64, %out: buf<f64,1>) -> (f64, i32, bool, f64) {
  %yes: bool = const true
  %no: bool = const false
  %zero: i64 = const 0
  %one: i64 = const 1
  %three: i64 = const 3
  %r: f64 = if %yes {
    %d: f64 = add %x, %x
    yield %d
  } else {
    yield %x
  }
  store %out[%zero], %r
  %n: f64 = for %i: i64 = %three to %one step 1 (%acc: f64 = %r) {
    %acc1: f64 = add %acc, %x
    yield %acc1
  }
  %once: f64 = for %j: i64 = %one to %three step 2 (%acc2: f64 = %x) {
    store %out[%j], %acc2
    yield %acc2
  }
  %always: f64 = loop (%v: f64 = %n) {
    exit_if %yes (%v)
    %v1: f64 = mul %v, %v
    yield %v1
  }
  %k: i32, %b: bool, %same: f64, %f: f64 = if %c {
    %k3: i32 = const 3
    %t: bool = const true
    %seven: f64 = const 7
    store %out[%three], %seven
    yield %k3, %t, %once, %seven
  } else {
    %k4: i32 = const 4
    %u: bool = const false
    yield %k4, %u, %once, %x
  }
  yield %always, %k, %b, %same
}

; Exact identities only: x * 1, x / 1, x - 0, x + -0 go; x + 0 and x * 0 stay.
; count simplify mul 1
; count simplify add 1
; count simplify div 0
; count simplify sub 0
; count simplify neg 0
; count simplify cast 0
; count simplify select 0
; arg x = -0
; arg k = 7
; arg b = 1
; want return = -0
; want return1 = 0
; want return2 = -0
; want return3 = 7
; want return4 = 1
; want return5 = 0
kernel @k(%x: f64, %k: i32, %b: bool) -> (f64, f64, f64, i32, bool, i32) {
  %one: f64 = const 1
  %zero: f64 = const 0
  %mzero: f64 = const -0.0
  %a: f64 = mul %one, %x
  %a2: f64 = div %a, %one
  %a3: f64 = sub %a2, %zero
  %a4: f64 = add %mzero, %a3
  %a5: f64 = neg %a4
  %a6: f64 = neg %a5
  %w: f64 = add %x, %zero
  %m: f64 = mul %x, %zero
  %i0: i32 = const 0
  %i1: i32 = const 1
  %k1: i32 = mul %k, %i1
  %k2: i32 = add %k1, %i0
  %k3: i64 = cast %k2
  %k4: i32 = cast %k3
  %k5: i32 = sub %k4, %i0
  %t: bool = const true
  %s: f64 = select %t, %a6, %w
  %bi: i32 = cast %b
  %bb: bool = ne %bi, %i0
  %z: i32 = xor %k, %k
  yield %s, %w, %m, %k5, %bb, %z
}

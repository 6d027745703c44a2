; A loop in a loop, a loop that counts down, one that carries an array; a long one and one of unknown length stay.
; count opt_unroll for 2
; count straight for 2
; count straight extract 0
; count straight insert 0
; arg n = 3
; arg x = 0.5
; want return = 45
; want return1 = 0.5625
; want return2 = 3.5
; want return3 = 4950
kernel @k(%n: i32, %x: f64) -> (i32, f64, f64, i32) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %three: i32 = const 3
  %hundred: i32 = const 100
  %sum: i32 = for %i: i32 = %zero to %three step 1 (%a: i32 = %zero) {
    %inner: i32 = for %j: i32 = %three to %zero step -1 (%b: i32 = %a) {
      %p: i32 = mul %j, %two
      %q: i32 = add %p, %i
      %c: i32 = add %b, %q
      yield %c
    }
    yield %inner
  }
  %array: f64[3] = array
  %z64: i64 = const 0
  %o64: i64 = const 1
  %t64: i64 = const 2
  %half: f64 = const 0.5
  %first: f64[3] = insert %array[%z64], %x
  %filled: f64[3] = for %i2: i32 = %one to %three step 1 (%m: f64[3] = %first) {
    %at: i64 = cast %i2
    %before: i64 = sub %at, %o64
    %old: f64 = extract %m[%before]
    %new: f64 = mul %old, %half
    %next: f64[3] = insert %m[%at], %new
    yield %next
  }
  %e0: f64 = extract %filled[%z64]
  %e2: f64 = extract %filled[%t64]
  %half2: f64 = mul %e2, %half
  %pair: f64 = add %e0, %half2
  %grown: f64 = for %i3: i32 = %zero to %n step 1 (%g: f64 = %half) {
    %onef: f64 = const 1
    %h: f64 = add %g, %onef
    yield %h
  }
  %long: i32 = for %i4: i32 = %zero to %hundred step 1 (%l: i32 = %zero) {
    %l1: i32 = add %l, %i4
    yield %l1
  }
  yield %sum, %pair, %grown, %long
}

; A bound that is stored to in the loop is not the same in every iteration; another array's stores do not
; matter.
; count simplify loop 1
; count simplify for 1
; arg n[1] = 3
; arg x[4] = 0
; want n = 6
; want x = 1 1 1 0
kernel @k(%n: buf<i32,1>, %x: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %six: i32 = const 6
  loop (%i: i32 = %zero) {
    %m: i32 = load %n[%zero]
    %end: bool = ge %i, %m
    exit_if %end
    store %x[%i], %one
    %i1: i32 = add %i, %one
    yield %i1
  }
  loop (%j: i32 = %zero) {
    %m2: i32 = load %n[%zero]
    %end2: bool = ge %j, %m2
    exit_if %end2
    store %n[%zero], %six
    %j1: i32 = add %j, %one
    yield %j1
  }
  yield
}

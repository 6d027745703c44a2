; A while loop with an invariant bound in memory becomes for; the variable's last value is kept.
; count simplify loop 0
; count simplify for 1
; arg n[1] = 5
; arg x[8] = 0
; want x = 0 1 2 3 4 0 0 5
kernel @k(%n: buf<i32,1>, %x: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %seven: i32 = const 7
  %last: i32 = loop (%i: i32 = %zero) {
    %m: i32 = load %n[%zero]
    %go: bool = lt %i, %m
    %end: bool = not %go
    exit_if %end (%i)
    store %x[%i], %i
    %i1: i32 = add %i, %one
    yield %i1
  }
  store %x[%seven], %last
  yield
}

; Other carried values, arrays among them, exits that compute, and a step that is subtracted.
; count simplify loop 0
; count simplify for 2
; arg n = 10
; want return = 55
; want return1 = 56
; want return2 = 0
; want return3 = 5
kernel @k(%n: i32) -> (i32, i32, i32, i32) {
  %zero: i32 = const 0
  %zero64: i64 = const 0
  %one: i32 = const 1
  %a0: i32[1] = array
  %sum: i32, %more: i32, %last: i32, %a: i32[1] = loop (%i: i32 = %n, %s: i32 = %zero, %ary: i32[1] = %a0) {
    %s2: i32 = add %s, %one
    %go: bool = lt %zero, %i
    %end: bool = not %go
    exit_if %end (%s, %s2, %i, %ary)
    %s1: i32 = add %s, %i
    %ary1: i32[1] = insert %ary[%zero64], %s1
    %i1: i32 = sub %i, %one
    yield %i1, %s1, %ary1
  }
  %e: i32 = extract %a[%zero64]
  %by: i32 = const 2
  %limit: i32 = const 9
  %steps: i32 = loop (%j: i32 = %zero, %c: i32 = %zero) {
    %end2: bool = ge %j, %limit
    exit_if %end2 (%c)
    %c1: i32 = add %c, %one
    %j1: i32 = add %j, %by
    yield %j1, %c1
  }
  yield %sum, %more, %last, %steps
}

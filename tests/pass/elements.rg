; Arrays that a loop carries and a branch changes become scalars; where a subscript is not known, the array stays.
; count straight array 1
; count straight copy 0
; arg n = 4
; arg k = 1
; want return = 10
; want return1 = 24
; want return2 = 7
kernel @k(%n: i32, %k: i64) -> (f64, f64, f64) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %z64: i64 = const 0
  %o64: i64 = const 1
  %onef: f64 = const 1
  %seven: f64 = const 7
  %start: f64[2] = array
  %start1: f64[2] = insert %start[%o64], %onef
  %done: f64[2], %t: i32 = loop (%a: f64[2] = %start1, %i: i32 = %zero) {
    %over: bool = ge %i, %n
    exit_if %over (%a, %i)
    %i1: i32 = add %i, %one
    %f: f64 = cast %i1
    %sum: f64 = extract %a[%z64]
    %product: f64 = extract %a[%o64]
    %sum1: f64 = add %sum, %f
    %product1: f64 = mul %product, %f
    %other: f64[2] = copy %a
    %b: f64[2] = insert %a[%z64], %sum1
    %some: bool = gt %i1, %zero
    %c: f64[2] = if %some {
      %d: f64[2] = insert %b[%o64], %product1
      yield %d
    } else {
      yield %other
    }
    yield %c, %i1
  }
  %s: f64 = extract %done[%z64]
  %p: f64 = extract %done[%o64]
  %kept: f64[2] = array
  %kept1: f64[2] = insert %kept[%k], %seven
  %u: f64 = extract %kept1[%o64]
  yield %s, %p, %u
}

; stage ad
; Recalls of a value in its unwind and behind it differ: the second means the partial iteration.
; count simplify recall 2
; arg out[3] = 0
; want out = 0 2 2
kernel @k(%out: buf<i64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %two: i64 = const 2
  %n: i64, %t: trace = loop records (%i: i64 = %zero) {
    %end: bool = ge %i, %two
    exit_if %end (%i)
    %i1: i64 = add %i, %one
    yield %i1
  }
  unwind %t, %n (%k: i64) {
    %a: i64 = recall %i
    %b: i64 = recall %i
    %c: i64 = add %a, %b
    store %out[%zero], %c
    yield
  }
  %d: i64 = recall %i
  store %out[%one], %d
  %e: i64 = recall %i
  store %out[%two], %e
  yield
}

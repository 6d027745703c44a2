; stage ad
; Triangular loops: inner loop j of outer i runs i times; partial iterations recalled outside unwinds.
; arg n = 5
; arg out[64] = 0
; want out = 5 3 2 1 0 4 4 2 1 0 3 3 1 0 2 2 0 1 1 0 0 0
; print 21\n
kernel @k(%n: i32, %out: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %zero64: i64 = const 0
  %one64: i64 = const 1
  %count: i64, %t: trace = loop records (%i: i32 = %zero, %c: i64 = %zero64) {
    %end: bool = ge %i, %n
    exit_if %end (%c)
    %inner: i64, %u: trace = loop records (%j: i32 = %zero, %d: i64 = %zero64) {
      %jend: bool = ge %j, %i
      exit_if %jend (%d)
      %j1: i32 = add %j, %one
      %d1: i64 = add %d, %one64
      yield %j1, %d1
    }
    %i1: i32 = add %i, %one
    %c1: i64 = add %c, %one64
    yield %i1, %c1
  }
  %last: i32 = recall %i
  store %out[%zero], %last
  %used: i32 = unwind %t, %count (%k: i64, %p: i32 = %one) {
    %ri: i32 = recall %i
    %rn: i64 = recall %inner
    %ru: trace = recall %u
    %before: i32 = recall %j
    %p0: i32 = unwind %ru, %rn (%k2: i64, %q: i32 = %p) {
      %rj: i32 = recall %j
      store %out[%q], %rj
      %q1: i32 = add %q, %one
      yield %q1
    }
    %after: i32 = recall %j
    %same: bool = eq %before, %after
    assert %same, "recall behind an unwind is the partial iteration's"
    store %out[%p0], %before
    %p1: i32 = add %p0, %one
    store %out[%p1], %ri
    %p2: i32 = add %p1, %one
    yield %p2
  }
  print "%d\n", %used
  yield
}

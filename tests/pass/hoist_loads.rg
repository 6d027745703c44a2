; Loads whose place is the same in every iteration move out: of a loop that runs at least its first ops,
; of ifs, fors and parallel loops where extents prove them safe; not past a write, not on a guess.
; count opt_hoist load 7
; arg n = 2
; arg steps = 3
; arg w[4] = 1 2 3 4
; arg a[2] = 10 20
; arg y[2] = 0
; arg c[4] = 5 6 7 8
; want y = 73 106
; want c = 5 6 7 8
kernel @k(%n: i32, %steps: i32, %w: buf<f64,1>, %a: buf<f64,1>, %y: buf<f64,1>, %c: buf<f64,1>)
shape { %four: i64 = const 4  %e: i64 = cast %n  %any: i64 = const -1  yield %four, %e, %e, %any } {
  %zero: i32 = const 0
  %one: i32 = const 1
  %f0: f64 = const 0
  parallel (%i: i32) = (%zero) to (%n) {
    %r: f64 = for %t: i32 = %zero to %steps step 1 (%s: f64 = %f0) {
      %two: i32 = const 2
      %w2: f64 = load %w[%two]
      %ai: f64 = load %a[%i]
      %ci: f64 = load %c[%i]
      %first: bool = eq %t, %zero
      %w1: f64 = if %first {
        %v: f64 = load %w[%one]
        yield %v
      } else {
        yield %w2
      }
      %s1: f64 = add %s, %ai
      %s2: f64 = add %s1, %w1
      %s3: f64 = add %s2, %ci
      yield %s3
    }
    %q: f64 = loop (%j: i32 = %zero, %p: f64 = %r) {
      %c0: f64 = load %c[%zero]
      %yi: f64 = load %y[%i]
      %p1: f64 = add %p, %c0
      %end: bool = ge %j, %steps
      exit_if %end (%p1)
      %late: f64 = load %c[%one]
      %p2: f64 = add %p1, %late
      %p3: f64 = sub %p2, %late
      store %y[%i], %p3
      %j1: i32 = add %j, %one
      yield %j1, %p3
    }
    store %y[%i], %q
    yield
  }
  yield
}

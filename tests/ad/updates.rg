; arg n 5
; arg x [ 5 ]
; arg y [ 5 ]
; arg z [ 5 ]
; arg w [ 5 ]
; writes 9
; What is loaded and then stored: the adjoint of x[i] stays where it is, that of z[i] takes the place of the old one. An
; element of w that may be the same one is read in between: it is cleared, and added to twice. The last loop is left between load
; and store: in a partial iteration the load adds to the adjoint of y[m], and no store clears it.
kernel @updates(%n: i64, %x: buf<f64,1>, %y: buf<f64,1>, %z: buf<f64,1>, %w: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %nought: f64 = const 0
  for %i: i64 = %zero to %n step 1 {
    %v: f64 = load %y[%i]
    %a: f64 = load %x[%i]
    %b: f64 = add %a, %v
    store %x[%i], %b
    yield
  }
  parallel (%j: i64) = (%zero) to (%n) {
    %c: f64 = load %z[%j]
    %d: f64 = sin %c
    store %z[%j], %d
    yield
  }
  for %k: i64 = %zero to %n step 1 {
    %e: f64 = load %w[%k]
    %last: i64 = sub %n, %k
    %l: i64 = sub %last, %one
    %f: f64 = load %w[%l]
    %g: f64 = mul %e, %f
    store %w[%k], %g
    yield
  }
  %total: f64 = loop (%m: i64 = %zero, %q: f64 = %nought) {
    %h: f64 = load %y[%m]
    %o: i64 = add %m, %one
    %over: bool = ge %o, %n
    %r: f64 = add %q, %h
    exit_if %over (%r)
    %p: f64 = cos %h
    store %y[%m], %p
    yield %o, %r
  }
  store %w[%zero], %total
  yield
}

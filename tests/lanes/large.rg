; A recorded local array that no frame of the tape can hold.
; stage ad
; arg n = 3
; arg x[3] = 5 6 7
; arg y[3] = 0
; want y = 302 906 1510
kernel @large(%n: i32, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %e0: i64 = const 0
  %e3: i64 = const 3
  %last: i64 = const 299
  %size: i64 = const 300
  %two: f64 = const 2
  %times: i64 = const 2
  parallel (%i: i32, %m: boolx16) = (%zero) to (%n) {
    %v: f64x16 = load.successive %x[%i] if %m
    %a: f64x16[300] = array
    %b: f64x16[300], %t: trace = for records %r: i64 = %e0 to %times step 1 (%c: f64x16[300] = %a) {
      %d: f64x16[300] = for %k: i64 = %e0 to %size step 1 (%e: f64x16[300] = %c) {
        %l: i64x16 = lane
        %l1: i64x16 = add %l, %r
        %p: i64x16 = mul %k, %l1
        %f: f64x16 = cast %p
        %g: f64x16[300] = insert %e[%k], %f
        yield %g
      }
      yield %d
    }
    %n1: f64x16 = sub %v, %v
    %s: f64x16 = unwind %t, %times (%k1: i64, %h: f64x16 = %n1) {
      %w: f64x16[300] = recall %d
      %q: f64x16 = extract %w[%last]
      %q0: f64x16 = extract %w[%e0]
      %q3: f64x16 = extract %w[%e3]
      %h1: f64x16 = add %h, %q
      %h2: f64x16 = add %h1, %q0
      %h3: f64x16 = add %h2, %q3
      yield %h3
    }
    store.successive %y[%i], %s if %m
    yield
  }
  yield
}

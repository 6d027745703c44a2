; arg x [ 6 ]
; arg y [ 6 ]
; split
; A local array written and read at run-time indices, in a loop and in a branch.
kernel @arrays(%x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %three: i64 = const 3
  %n: i64 = extent %x, 0
  parallel (%i: i64) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %a0: f64[3] = array
    %a1: f64[3] = insert %a0[%one], %v
    %a9: f64[3], %s9: f64 = for %t: i64 = %zero to %n step 1 (%a: f64[3] = %a1, %s: f64 = %v) {
      %p: i64 = add %t, %i
      %q: i64 = rem %p, %three
      %r: i64 = rem %t, %three
      %e: f64 = extract %a[%q]
      %f: f64 = mul %e, %s
      %g: f64 = add %f, %v
      %b: f64[3] = insert %a[%r], %g
      %c: bool = eq %q, %one
      %b2: f64[3] = if %c {
        %h: f64 = extract %b[%r]
        %m: f64 = sin %h
        %b1: f64[3] = insert %b[%zero], %m
        yield %b1
      } else {
        yield %b
      }
      %s1: f64 = sin %g
      yield %b2, %s1
    }
    %o: f64 = extract %a9[%zero]
    %o2: f64 = extract %a9[%one]
    %o3: f64 = mul %o, %o2
    %o4: f64 = add %o3, %s9
    store %y[%i], %o4
    yield
  }
  yield
}

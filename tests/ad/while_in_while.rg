; arg x [ 3 ]
; arg y [ 3 ]
; split
; Loops left from inside loops; the inner loop stands before the outer one's second exit.
kernel @whiles(%x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %n: i64 = extent %x, 0
  parallel (%i: i64) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %r: f64 = loop (%a: f64 = %v, %k: i64 = %zero) {
      %five: i64 = const 5
      %end: bool = ge %k, %five
      exit_if %end (%a)
      %b9: f64, %hit: bool = loop (%b: f64 = %a, %j: i64 = %zero) {
        %no: bool = const false
        %yes: bool = const true
        %e: bool = ge %j, %k
        exit_if %e (%b, %no)
        %s: f64 = sin %b
        %m: f64 = mul %s, %v
        %sm: f64 = const 0.01
        %tiny: bool = lt %m, %sm
        exit_if %tiny (%m, %yes)
        %p: f64 = const 0.9
        %b1: f64 = add %m, %p
        %j1: i64 = add %j, %one
        yield %b1, %j1
      }
      exit_if %hit (%b9)
      %q: f64 = mul %b9, %a
      %big: f64 = const 2.5
      %over: bool = gt %q, %big
      exit_if %over (%q)
      %k1: i64 = add %k, %one
      yield %q, %k1
    }
    %z: f64 = mul %r, %v
    store %y[%i], %z
    yield
  }
  yield
}

; stage: ad
; Recalls of both kinds: under unwinds, of an inner trace, and of what a region held when it was left.
kernel @nested_vjp(%n: i32, %full: i64, %p: buf<f64,1>) {
  %zero: i32 = const 0
  %one: f64 = const 1
  %lim: f64 = const 10
  %r: f64, %t: trace = loop records (%a: f64 = %one) {
    %s: f64, %ti: trace = for records %j: i32 = %zero to %n step 1 (%b: f64 = %a) {
      %b2: f64 = mul %b, %b
      yield %b2
    }
    %big: bool = gt %s, %lim
    exit_if %big (%s)
    %next: f64 = if %big {
      %then: f64 = sin %s
      yield %then
    } else {
      yield %s
    }
    yield %next
  }
  %g: f64 = load.adj %p[%zero]
  %tl: trace = recall %ti
  %gl: f64 = unwind %tl, %full (%k0: i64, %g0: f64 = %g) {
    %bl: f64 = recall %b
    %g01: f64 = mul %g0, %bl
    yield %g01
  }
  %last: f64 = recall %then
  %g1: f64 = unwind %t, %full (%k1: i64, %gk: f64 = %gl) {
    %big1: bool = recall %big
    %g2: f64 = if %big1 {
      %th: f64 = recall %then
      %g3: f64 = mul %gk, %th
      yield %g3
    } else {
      yield %gk
    }
    %tk: trace = recall %ti
    %g4: f64 = unwind %tk, %full (%k2: i64, %gj: f64 = %g2) {
      %bj: f64 = recall %b
      %g5: f64 = mul %gj, %bj
      yield %g5
    }
    yield %g4
  }
  rmw.add.adj %p[%zero], %g1
  yield
}

; Arms that do alike of other operands: the quotient, with the if around it, is computed once behind them. What costs as much to
; choose as to compute stays.
; stage source
; count straight div 1
; count straight mul 2
; count straight if 3
; arg n = 4
; arg x[4] = 1 -2 2 -4
; arg y[4] = 5 2 4 5
; arg a[4] = 0
; arg b[4] = 0
; want a = 8 -3.5 4.5 -4
; want b = 5 -4 8 -20
kernel @arms(%n: i32, %x: buf<f64,1>, %y: buf<f64,1>, %a: buf<f64,1>, %b: buf<f64,1>) {
  %zero: i32 = const 0
  %none: f64 = const 0
  %one: f64 = const 1
  %three: f64 = const 3
  parallel (%i: i32) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %w: f64 = load %y[%i]
    %positive: bool = gt %v, %none
    %r: f64 = if %positive {
      %p: f64 = add %v, %one
      %small: bool = lt %v, %three
      %q: f64 = if %small {
        %s: f64 = sub %w, %p
        %t: f64 = div %s, %v
        yield %t
      } else {
        yield %none
      }
      %u: f64 = add %q, %w
      yield %u
    } else {
      %p2: f64 = sub %w, %one
      %small2: bool = lt %w, %three
      %q2: f64 = if %small2 {
        %s2: f64 = sub %v, %p2
        %t2: f64 = div %s2, %w
        yield %t2
      } else {
        yield %none
      }
      %u2: f64 = add %q2, %v
      yield %u2
    }
    store %a[%i], %r
    %m: f64 = if %positive {
      %m1: f64 = mul %v, %w
      yield %m1
    } else {
      %k: f64 = add %w, %none
      %m2: f64 = mul %k, %v
      yield %m2
    }
    store %b[%i], %m
    yield
  }
  yield
}

; arg n 12
; arg steps [ 12 ] from 0 mod 10
; arg c [ 10 ]
; arg x [ 12 ]
; arg y [ 12 ]
; split
; Trip counts from none over full blocks to partial ones, counting down; what the reverse needs stands in a
; branch, follows from the index, or is loaded again.
kernel @block_for(%n: i32, %steps: buf<i32,1>, %c: buf<f64,1>, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  parallel (%i: i32) = (%zero) to (%n) {
    %v0: f64 = load %x[%i]
    %m: i32 = load %steps[%i]
    %top: i32 = sub %m, %one
    %minus: i32 = const -1
    %k: f64 = const 0.3
    %r: f64, %s: f64 = for %t: i32 = %top to %minus step -1 (%a: f64 = %v0, %b: f64 = %k) {
      %w: f64 = load %c[%t]
      %f: f64 = cast %t
      %p: f64 = mul %a, %b
      %odd: i32 = rem %t, %two
      %is: bool = eq %odd, %one
      %q: f64 = if %is {
        %u: f64 = sin %p
        %u2: f64 = mul %u, %w
        %u3: f64 = mul %u2, %u
        yield %u3
      } else {
        %l: f64 = mul %f, %p
        yield %l
      }
      %a1: f64 = mul %q, %k
      %b1: f64 = add %b, %a
      yield %b1, %a1
    }
    %o: f64 = mul %r, %s
    store %y[%i], %o
    yield
  }
  yield
}

; arg n 14
; arg steps [ 14 ] from 0 mod 14
; arg x [ 14 ]
; arg y [ 14 ]
; split
; A break amid the body, in loops of every length, within a branch and within a loop that is left early too.
kernel @block_break(%n: i32, %steps: buf<i32,1>, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %three: i32 = const 3
  parallel (%i: i32) = (%zero) to (%n) {
    %v0: f64 = load %x[%i]
    %m: i32 = load %steps[%i]
    %out: f64 = loop (%o: i32 = %zero, %v: f64 = %v0) {
      %end: bool = ge %o, %three
      exit_if %end (%v)
      %many: bool = gt %m, %o
      %w: f64 = if %many {
        %r: f64 = loop (%t: i32 = %zero, %a: f64 = %v, %b: f64 = %v0) {
          %c: bool = ge %t, %m
          exit_if %c (%a)
          %s: f64 = sin %a
          %p: f64 = mul %s, %b
          %big: f64 = const 0.97
          %over: bool = gt %p, %big
          exit_if %over (%p)
          %k: f64 = const 0.35
          %a1: f64 = add %p, %k
          %b1: f64 = mul %b, %a
          %t1: i32 = add %t, %one
          yield %t1, %a1, %b1
        }
        yield %r
      } else {
        %h: f64 = cos %v
        yield %h
      }
      %z: f64 = mul %w, %v0
      %low: f64 = const 0.05
      %under: bool = lt %z, %low
      exit_if %under (%w)
      %o1: i32 = add %o, %one
      yield %o1, %z
    }
    store %y[%i], %out
    yield
  }
  yield
}

; arg x [ 4 ]
; arg y [ 4 ]
; split
; An active value computed before the exit, exits in the middle and at the end, a value from before.
kernel @exits(%x: buf<f64,1>, %y: buf<f64,1>) {
  %lo: i64 = const 0
  %hi: i64 = extent %x, 0
  parallel (%i: i64) = (%lo) to (%hi) {
    %v0: f64 = load %x[%i]
    %w: f64 = cos %v0
    %r: f64, %z: f64 = loop (%a: f64 = %v0, %b: f64 = %w) {
      %s: f64 = sin %a
      %d: f64 = mul %s, %w
      %eps: f64 = const 0.02
      %small: bool = lt %d, %eps
      exit_if %small (%d, %b)
      %h: f64 = mul %d, %b
      %e: f64 = exp %h
      %lim: f64 = const 1.2
      %e2: bool = gt %e, %lim
      exit_if %e2 (%e, %h)
      %k: f64 = const 0.4
      %a1: f64 = mul %d, %k
      %b1: f64 = mul %e, %b
      %lim2: f64 = const 0.05
      %c3: bool = lt %a1, %lim2
      exit_if %c3 (%a1, %b1)
      yield %b1, %a1
    }
    %q: f64 = mul %r, %z
    store %y[%i], %q
    yield
  }
  yield
}

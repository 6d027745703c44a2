; Threads of one group leave a loop at different times: it runs while any lane is active.
; stage ad
; arg n = 6
; arg steps[6] = 3 0 5 1 2 4
; arg x[6] = 1 1 1 1 1 1
; want x = 8 1 32 2 4 16
kernel @loops(%n: i32, %steps: buf<i32,1>, %x: buf<f32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: f32 = const 2
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %k: i32x4 = load.successive %steps[%i] if %m
    %v: f32x4 = load.successive %x[%i] if %m
    %none: i32x4 = splat %zero
    %r: f32x4 = loop (%t: i32x4 = %none, %a: f32x4 = %v, %on: boolx4 = %m) {
      %more: boolx4 = lt %t, %k
      %on1: boolx4 = and %on, %more
      %any: bool = lanes_any %on1
      %end: bool = not %any
      exit_if %end (%a)
      %b: f32x4 = mul %a, %two
      %a1: f32x4 = select %on1, %b, %a
      %t1: i32x4 = add %t, %one
      yield %t1, %a1, %on1
    }
    store.successive %x[%i], %r if %m
    yield
  }
  yield
}

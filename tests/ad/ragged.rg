; arg n 6
; arg steps [ 6 ] from 0 mod 4
; arg x [ 6 ]
; arg loss [ 1 ]
; split
; The loop whose count only the data knows, with a break: two exits.
kernel @relax(%n: i32, %steps: buf<i32,1>, %x: buf<f64,1>, %loss: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  parallel (%i: i32) = (%zero) to (%n) {
    %v0: f64 = load %x[%i]
    %m: i32 = load %steps[%i]
    %r: f64 = loop (%t: i32 = %zero, %a: f64 = %v0) {
      %c: bool = ge %t, %m
      exit_if %c (%a)
      %big: f64 = const 1.05
      %b: bool = gt %a, %big
      exit_if %b (%a)
      %s: f64 = sin %a
      %k: f64 = const 0.3
      %a1: f64 = add %s, %k
      %t1: i32 = add %t, %one
      yield %t1, %a1
    }
    rmw.add.atomic %loss[%zero], %r
    yield
  }
  yield
}

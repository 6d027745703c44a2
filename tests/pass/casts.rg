; What a cast made negative is no number of iterations, although it was more than 0 before: the loop does not run, nor does
; its load go before it.
; arg count = 3000000000
; arg past = 7
; arg x[2] = 1 2
; arg y[1] = 5
; want y = 5
kernel @casts(%count: u32, %past: i64, %x: buf<f64,1>, %y: buf<f64,1>) shape {
  %d0: i64 = const 2
  %d1: i64 = const 1
  yield %d0, %d1
} {
  %none: u32 = const 0
  %zero: i64 = const 0
  %one: i64 = const 1
  %some: bool = gt %count, %none
  %signed: i32 = cast %count
  %wide: i64 = cast %signed
  %n: i64 = select %some, %wide, %zero
  %bound: i64 = add %n, %one
  %start: f64 = load %y[%zero]
  %sum: f64 = for %j: i64 = %zero to %bound step 1 (%b: f64 = %start) {
    %a: f64 = load %x[%past]
    %c: f64 = add %a, %b
    yield %c
  }
  store %y[%zero], %sum
  yield
}

; arg n = 4
; arg steps[4] = 0 1 3 100
; arg x[4] = 1 1 1 1
; arg loss[1] = 0
; want loss = 12
kernel @relax(%n: i32, %steps: buf<i32,1>, %x: buf<f64,1>, %loss: buf<f64,1>) {
  %lo: i32 = const 0
  %one: i32 = const 1
  %limit: f64 = const 4
  %add: f64 = const 1.25
  parallel (%i: i32) = (%lo) to (%n) {
    %v0: f64 = load %x[%i]
    %m: i32 = load %steps[%i]
    %r: f64 = loop (%t: i32 = %lo, %v: f64 = %v0) {
      %done: bool = ge %t, %m
      exit_if %done (%v)
      %big: bool = gt %v, %limit
      exit_if %big (%limit)
      %w: f64 = add %v, %add
      %t1: i32 = add %t, %one
      yield %t1, %w
    }
    rmw.add.atomic %loss[%lo], %r
    yield
  }
  yield
}

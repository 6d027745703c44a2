; Parallel loops whose threads store to one element run in order, one loop for each axis; reductions are carried, updates are plain. What
; all threads store alike is no race, if it is an integer and the array is not touched otherwise.
; count lower_races parallel 2
; count lower_races for 3
; count lower_races rmw 1
; arg n = 3
; arg x[3] = 2 3 4
; arg last[1] = 0
; arg flag[1] = 0
; arg seen[1] = 0
; arg y[3] = 0
; want last = 4
; want flag = 1
; want seen = 1
; want y = 0 0 0
; want return = 27
kernel @k(%n: i32, %x: buf<f64,1>, %last: buf<f64,1>, %flag: buf<i32,1>, %seen: buf<i32,1>, %y: buf<f64,1>) -> (f64) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %f0: f64 = const 0
  %s: f64 = parallel (%i: i32, %j: i32) = (%zero, %zero) to (%n, %n) reduce (add %f0) {
    %v: f64 = load %x[%i]
    store %last[%zero], %v
    rmw.add.atomic %x[%zero], %f0
    yield %v
  }
  parallel (%k: i32) = (%zero) to (%n) {
    store %flag[%zero], %one
    yield
  }
  parallel (%p: i32) = (%zero) to (%n) {
    store %seen[%zero], %one
    %w: i32 = load %seen[%zero]
    %q: i32 = sub %w, %one
    %f: f64 = cast %q
    store %y[%p], %f
    yield
  }
  parallel (%m: i32) = (%zero) to (%n) {
    store %y[%m], %f0
    yield
  }
  yield %s
}

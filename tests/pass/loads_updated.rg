; An arm that replaces an element loads it itself: in reverse it then is an update of the arm alone. A load of an arm that keeps the
; element is not made again.
; count opt_loads load 2
; arg n = 3
; arg x[3] = 5 -7 2
; arg y[3] = 0
; want x = 1 -7 2
; want y = 5 -7 2
kernel @k(%n: i32, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %limit: f64 = const 4
  for %t: i32 = %zero to %n step 1 {
    %seen: f64 = load %x[%t]
    %large: bool = gt %seen, %limit
    %kept: f64 = if %large {
      %same: f64 = load %x[%t]
      yield %same
    } else {
      yield %seen
    }
    store %y[%t], %kept
    if %large {
      %old: f64 = load %x[%t]
      %less: f64 = sub %old, %limit
      store %x[%t], %less
      yield
    } else {
      yield
    }
    yield
  }
  yield
}

; Elements that were loaded before, in the same region or around it: past changes of other ones, which differ by a constant or lie
; behind it. x[1] stays where it is stored, and is loaded.
; count opt_loads load 4
; arg n = 3
; arg x[2] = 2 3
; arg y[4] = 0
; arg a[3,3] = 1 2 3 4 5 6 7 8 9
; want x = 2 4
; want y = 6 2 10 18
; want a = 1 2 3 4 5 30 7 8 9
kernel @k(%n: i32, %x: buf<f64,1>, %y: buf<f64,1>, %a: buf<f64,2>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %first: f64 = load %x[%zero]
  %again: f64 = load %x[%zero]
  %sum: f64 = add %first, %again
  store %x[%one], %sum
  %some: bool = gt %n, %zero
  if %some {
    %inside: f64 = load %x[%zero]
    %stored: f64 = load %x[%one]
    %both: f64 = add %inside, %stored
    store %y[%zero], %both
    yield
  } else {
    yield
  }
  for %i: i32 = %zero to %n step 1 {
    %next: i32 = add %i, %one
    %pivot: f64 = load.row %a[%i, %i]
    for %j: i32 = %next to %n step 1 {
      %factor: f64 = load.row %a[%i, %i]
      %old: f64 = load.row %a[%i, %j]
      %new: f64 = mul %old, %factor
      store.row %a[%i, %j], %new
      yield
    }
    %behind: f64 = load.row %a[%i, %i]
    %twice: f64 = add %pivot, %behind
    store %y[%next], %twice
    yield
  }
  yield
}

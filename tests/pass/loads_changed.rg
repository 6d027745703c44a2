; Loads that stay: of what the loop around them, a branch, a store through a choice, an addition, a task in a loop or, as an atomic
; load may tell, another thread may have changed. Not needed are %same, %z0b, and of the last task %c2.
; count opt_loads load 19
; arg n = 3
; arg which = 1
; arg x[4] = 1 2 3 4
; arg y[4] = 10 20 30 40
; arg z[3] = 100 200 300
; arg a[3,3] = 1 2 3 4 5 6 7 8 9
; arg k[1] = 0
; arg out[7] = 0
; want out = 4 4 29 101 18 15 13
; want x = 4 1 3 4
; want y = 13 34 4 40
; want z = 101 200 300
; want a = 1 1 1 4 1 1 7 8 1
kernel @k(%n: i32, %which: i32, %x: buf<f64,1>, %y: buf<f64,1>, %z: buf<f64,1>, %a: buf<f64,2>, %k: buf<i32,1>, %out: buf<f64,1>) {
  %0: i32 = const 0
  %1: i32 = const 1
  %2: i32 = const 2
  %3: i32 = const 3
  %4: i32 = const 4
  %5: i32 = const 5
  %6: i32 = const 6
  %one: f64 = const 1
  %x0: f64 = load %x[%0]
  for %t: i32 = %0 to %n step 1 {
    %old: f64 = load %x[%0]
    %new: f64 = add %old, %x0
    store %x[%0], %new
    yield
  }
  %grown: f64 = load %x[%0]
  store %out[%0], %grown
  %x1: f64 = load %x[%1]
  %some: bool = gt %which, %0
  %r: f64 = if %some {
    store %x[%1], %one
    yield %one
  } else {
    %same: f64 = load %x[%1]
    yield %same
  }
  %after: f64 = load %x[%1]
  %s1: f64 = add %after, %r
  %s2: f64 = add %s1, %x1
  store %out[%1], %s2
  %p: buf<f64,1> = pick %which, %x, %y
  %x2: f64 = load %x[%2]
  %y2: f64 = load %y[%2]
  %z0: f64 = load %z[%0]
  store %p[%2], %one
  %x2b: f64 = load %x[%2]
  %y2b: f64 = load %y[%2]
  %z0b: f64 = load %z[%0]
  %s3: f64 = sub %x2, %x2b
  %s4: f64 = sub %y2, %y2b
  %s5: f64 = sub %z0, %z0b
  %s6: f64 = add %s3, %s4
  %s7: f64 = add %s6, %s5
  store %out[%2], %s7
  rmw.add %z[%0], %one
  %added: f64 = load %z[%0]
  store %out[%3], %added
  for %i: i32 = %0 to %n step 1 {
    %pivot: f64 = load.row %a[%i, %i]
    for %j: i32 = %i to %n step 1 {
      %factor: f64 = load.row %a[%i, %i]
      store.row %a[%i, %j], %one
      rmw.add %out[%4], %factor
      yield
    }
    rmw.add %out[%5], %pivot
    yield
  }
  %twelve: f64 = const 12
  %last: f64 = loop {
    %seen: f64 = load %y[%0]
    %far: bool = gt %seen, %twelve
    exit_if %far (%seen)
    parallel (%q: i32) = (%0) to (%n) {
      %mine: f64 = load %y[%q]
      %more: f64 = add %mine, %one
      store %y[%q], %more
      yield
    }
    yield
  }
  store %out[%6], %last
  parallel (%q2: i32) = (%0) to (%1) {
    %next: i32 = add %q2, %1
    %b: f64 = load %y[%0]
    %c: f64 = load %x[%0]
    %flag: i32 = load.atomic %k[%0]
    %b2: f64 = load %y[%0]
    %c2: f64 = load %x[%0]
    %s8: f64 = add %b, %b2
    %s9: f64 = add %c, %c2
    %s10: f64 = add %s8, %s9
    store %y[%next], %s10
    yield
  }
  yield
}

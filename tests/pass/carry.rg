; What an iteration leaves for the next one is carried, past additions under a condition, too; what the loop may leave behind is stored
; behind it, if it runs. An element that another subscript may name, and one that is stored once and stays, are loaded again.
; count opt_carry for 6
; count opt_carry load 11
; count opt_carry store 6
; arg n = 4
; arg none = 0
; arg a[4] = 1 2 3 4
; arg s[2] = 10 20
; arg u[5] = 1 0 0 0 0
; arg v[5] = 1 0 0 0 0
; arg w[1] = 5
; want s = 17 20
; want u = 6 7 11 29 0
; want v = 1 2 6 24 0
; want w = 5
; want a = 1 2 3 20
kernel @k(%n: i32, %none: i32, %a: buf<f64,1>, %s: buf<f64,1>, %u: buf<f64,1>, %v: buf<f64,1>, %w: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %three: i32 = const 3
  for %i: i32 = %zero to %n step 1 {
    %x: f64 = load %a[%i]
    %old: f64 = load %s[%zero]
    %two: f64 = const 2
    %large: bool = gt %x, %two
    if %large {
      %now: f64 = load %s[%zero]
      %more: f64 = add %now, %x
      store %s[%zero], %more
      yield
    } else {
      yield
    }
    yield
  }
  for %j: i32 = %one to %n step 1 {
    %j1: i32 = sub %j, %one
    %last: f64 = load %u[%j1]
    %y: f64 = load %a[%j]
    %z: f64 = mul %last, %y
    store %u[%j], %z
    yield
  }
  for %r: i32 = %zero to %n step 1 {
    %f: f64 = load %u[%r]
    %g: f64 = load %w[%zero]
    %h: f64 = add %f, %g
    store %u[%r], %h
    yield
  }
  for %t: i32 = %one to %n step 1 {
    %t1: i32 = sub %t, %one
    %m: f64 = load %v[%t1]
    %l: f64 = load %a[%t]
    %o: f64 = mul %m, %l
    store %v[%t], %o
    yield
  }
  for %e: i32 = %none to %none step 1 {
    %k: f64 = load %w[%zero]
    %k2: f64 = add %k, %k
    store %w[%zero], %k2
    yield
  }
  for %q: i32 = %zero to %n step 1 {
    %b: f64 = load %a[%three]
    %c: f64 = load %a[%q]
    %d: f64 = add %b, %c
    store %a[%three], %d
    yield
  }
  yield
}

; What may be written through a choice stays in its loop, what cannot be moves out.
; count opt_hoist load 6
; arg which = 1
; arg x[1] = 1
; arg y[1] = 10
; arg z[1] = 100
; want x = 1
; want y = 313
kernel @k(%which: i32, %x: buf<f64,1>, %y: buf<f64,1>, %z: buf<f64,1>)
shape { %one: i64 = const 1  yield %one, %one, %one } {
  %zero: i32 = const 0
  %three: i32 = const 3
  %p: buf<f64,1> = pick %which, %x, %y
  %x0: f64 = load %x[%zero]
  %y0: f64 = load %y[%zero]
  %z0: f64 = load %z[%zero]
  for %t: i32 = %zero to %three step 1 {
    %xt: f64 = load %x[%zero]
    %zt: f64 = load %z[%zero]
    %old: f64 = load %p[%zero]
    %s: f64 = add %xt, %zt
    %new: f64 = add %old, %s
    store %p[%zero], %new
    yield
  }
  yield
}

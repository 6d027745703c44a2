; A stored value is known until something else may be there, if it does not stay there: as in z, whose elements are stored once.
; count opt_loads load 2
; arg n = 3
; arg x[2] = 5 7
; arg z[3] = 0
; want x = 40 47
; want z = 10 20 40
kernel @k(%n: i32, %x: buf<f64,1>, %z: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  for %t: i32 = %zero to %n step 1 {
    %old: f64 = load %x[%zero]
    %new: f64 = add %old, %old
    store %x[%zero], %new
    %known: f64 = load %x[%zero]
    store %z[%t], %known
    %stays: f64 = load %z[%t]
    %seven: f64 = const 7
    %more: f64 = add %stays, %seven
    store %x[%one], %more
    yield
  }
  yield
}

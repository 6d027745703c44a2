; arg n 6
; arg x [ 6 ]
; arg lo [ ]
; arg hi [ ]
; arg prod [ ]
; Atomic min, max and mul by many threads of arrays that have one element and no axes.
kernel @contests_without_axes(%n: i64, %x: buf<f64,1>, %lo: buf<f64,0>, %hi: buf<f64,0>, %prod: buf<f64,0>) {
  %zero: i64 = const 0
  parallel (%i: i64) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %s: f64 = sin %v
    rmw.min.atomic %lo[], %s
    rmw.max.atomic %hi[], %s
    rmw.mul.atomic %prod[], %v
    yield
  }
  yield
}

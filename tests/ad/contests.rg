; arg n 6
; arg idx [ 6 ] from 0 mod 3
; arg x [ 6 ]
; arg lo [ 3 ]
; arg hi [ 3 ]
; arg prod [ 3 ]
; Atomic min, max and mul by many threads, each twice in a thread.
kernel @contests(%n: i64, %idx: buf<i32,1>, %x: buf<f64,1>, %lo: buf<f64,1>, %hi: buf<f64,1>, %prod: buf<f64,1>) {
  %zero: i64 = const 0
  parallel (%i: i64) = (%zero) to (%n) {
    %k: i32 = load %idx[%i]
    %v: f64 = load %x[%i]
    %s: f64 = sin %v
    rmw.min.atomic %lo[%k], %s
    %q: f64 = mul %v, %v
    rmw.max.atomic %hi[%k], %q
    rmw.max.atomic %hi[%k], %s
    rmw.mul.atomic %prod[%k], %s
    rmw.mul.atomic %prod[%k], %v
    yield
  }
  yield
}

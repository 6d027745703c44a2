; stage ad
; A recurrence v = v * v, as its reverse looks: a trace per thread, unwound by another parallel loop.
; arg n = 3
; arg x[2] = 1.5 0.5
; arg x.adj = 1 2
; want x = 25.62890625 0.00390625
; want x.adj = 136.6875 0.125
kernel @square_vjp(%n: i32, %x: buf<f64,1>) {
  %zero: i32 = const 0
  %threads: i32 = const 2
  %two: f64 = const 2
  %n64: i64 = cast %n
  %tasks: trace = parallel records (%i: i32) = (%zero) to (%threads) {
    %v0: f64 = load %x[%i]
    %r: f64, %t: trace = for records %k: i32 = %zero to %n step 1 (%v: f64 = %v0) {
      %s: f64 = mul %v, %v
      yield %s
    }
    store %x[%i], %r
    yield
  }
  parallel rewinds %tasks (%i2: i32) = (%zero) to (%threads) {
    %g: f64 = load.adj %x[%i2]
    %tr: trace = recall %t
    %gx: f64 = unwind %tr, %n64 (%k2: i64, %gv: f64 = %g) {
      %p: f64 = recall %v
      %c: f64 = mul %p, %two
      %gn: f64 = mul %gv, %c
      yield %gn
    }
    store.adj %x[%i2], %gx
    yield
  }
  yield
}

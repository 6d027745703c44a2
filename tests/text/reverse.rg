; stage: ad
kernel @sine_vjp(%n: i32, %x: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %n64: i64 = cast %n
  %fzero: f64 = const 0
  %tasks: trace = parallel records (%i: i32) = (%zero) to (%n) {
    %v0: f64 = load %x[%i]
    %r: f64, %t: trace = for records %k: i32 = %zero to %n step 1 (%v: f64 = %v0) {
      %s: f64 = sin %v
      yield %s
    }
    store %x[%i], %r
    yield
  }
  parallel rewinds %tasks (%i2: i32) = (%zero) to (%n) {
    %g: f64 = load.adj %x[%i2]
    %tr: trace = recall %t
    %gx: f64 = unwind %tr, %n64 (%k2: i64, %gv: f64 = %g) {
      %p: f64 = recall %v
      %c: f64 = cos %p
      %gn: f64 = mul %gv, %c
      yield %gn
    }
    store.adj %x[%i2], %gx
    yield
  }
  yield
}

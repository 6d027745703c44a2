; stage: ad
kernel @traces(%n: i32, %x: buf<f32,1>) {
  %zero: i32 = const 0
  %trace: trace = parallel records (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %v: f32x4 = load.successive %x[%i] if %m
    %r: f32x4, %t: trace = for records %k: i32 = %zero to %n step 1 (%a: f32x4 = %v) {
      %s: f32x4 = sin %a
      yield %s
    }
    yield
  }
  parallel rewinds %trace (%i1: i32, %m1: boolx4) = (%zero) to (%n) {
    %g: f32x4 = load.successive.adj %x[%i1] if %m1
    %t1: trace = recall %t
    %count: i64 = cast %n
    %b: f32x4 = unwind %t1, %count (%k1: i64, %h: f32x4 = %g) {
      %a1: f32x4 = recall %a
      %c: f32x4 = cos %a1
      %h1: f32x4 = mul %h, %c
      yield %h1
    }
    rmw.add.successive.adj %x[%i1], %b if %m1
    yield
  }
  yield
}

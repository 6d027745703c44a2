; The reverse of a recording loop in groups takes the traces of its groups, last to first.
; stage ad
; tolerance 1e-6
; arg n = 5
; arg steps = 3
; arg x[5] = 0.5 1 1.5 2 2.5
; arg x.adj = 1 2 3 4 5
; want x.adj = 0.0625 16 410.0625 4096 24414.0625
; want x = 0.00390625 1 25.62890625 256 1525.87890625
kernel @traces(%n: i32, %steps: i32, %x: buf<f32,1>) {
  %zero: i32 = const 0
  %none: i64 = const 0
  %two: f32 = const 2
  %trace: trace = parallel records (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %v: f32x4 = load.successive %x[%i] if %m
    %r: f32x4, %t: trace = for records %k: i32 = %zero to %steps step 1 (%a: f32x4 = %v) {
      %s: f32x4 = mul %a, %a
      yield %s
    }
    store.successive %x[%i], %r if %m
    yield
  }
  parallel rewinds %trace (%i1: i32, %m1: boolx4) = (%zero) to (%n) {
    %g: f32x4 = load.successive.adj %x[%i1] if %m1
    %t1: trace = recall %t
    %count: i64 = cast %steps
    %b: f32x4 = unwind %t1, %count (%k1: i64, %h: f32x4 = %g) {
      %a1: f32x4 = recall %a
      %c: f32x4 = mul %a1, %two
      %h1: f32x4 = mul %h, %c
      yield %h1
    }
    store.successive.adj %x[%i1], %b if %m1
    yield
  }
  yield
}

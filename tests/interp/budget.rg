; stage ad
; What a trace holds counts; when it is more than the budget, arrays stay as they were.
; arg x[1] = 5
; budget 72
; fault records 80 bytes, the budget is 72
; want x = 5
kernel @k(%x: buf<f64,1>) {
  %zero: i64 = const 0
  %n: i64 = const 10
  %two: f64 = const 2
  %v0: f64 = load %x[%zero]
  %r: f64, %t: trace = for records %k: i64 = %zero to %n step 1 (%v: f64 = %v0) {
    %s: f64 = mul %v, %two
    yield %s
  }
  store %x[%zero], %r
  %g: f64 = unwind %t, %n (%k2: i64, %gv: f64 = %two) {
    %p: f64 = recall %v
    %gn: f64 = mul %gv, %p
    yield %gn
  }
  store.adj %x[%zero], %g
  yield
}

; stage ad
; Four values of the last iteration are recalled behind the loop, and all follow from one that it carries: on a GPU that one
; is its second result, and they are computed again.
; count ad_plan recall 0
; count ad_plan mul 7
; arg x[1] = 3
; want x = 342
kernel @k(%x: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %three: i64 = const 3
  %first: f64 = load %x[%zero]
  %two: f64 = const 2
  %last: i64, %t: trace = loop records (%k: i64 = %zero, %v: f64 = %first) {
    %a: f64 = mul %v, %v
    %b: f64 = mul %a, %two
    %c: f64 = add %b, %v
    %d: f64 = mul %c, %two
    %end: bool = ge %k, %one
    exit_if %end (%k)
    %k1: i64 = add %k, %one
    %v1: f64 = mul %v, %two
    yield %k1, %v1
  }
  %ra: f64 = recall %a
  %rb: f64 = recall %b
  %rc: f64 = recall %c
  %rd: f64 = recall %d
  %s: f64 = add %ra, %rb
  %u: f64 = add %rc, %rd
  %w: f64 = add %s, %u
  store %x[%zero], %w
  yield
}

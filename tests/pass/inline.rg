; Calls within calls, arrays by value.
; count opt_inline call 0
; count opt_inline mul 6
; arg x = 3
; want return = 6643
func @square(%x: f64) -> (f64) {
  %y: f64 = mul %x, %x
  yield %y
}
func @fourth(%a: f64, %keep: f64[2]) -> (f64, f64[2]) {
  %zero: i64 = const 0
  %b: f64 = call @square(%a)
  %c: f64 = call @square(%b)
  %k: f64[2] = insert %keep[%zero], %c
  yield %c, %k
}
kernel @k(%x: f64) -> (f64) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %array: f64[2] = array
  %r: f64, %a2: f64[2] = call @fourth(%x, %array)
  %e: f64 = extract %a2[%zero]
  %s: f64 = call @square(%r)
  %t: f64 = call @square(%s)
  %u: f64 = call @square(%t)
  %v: f64 = call @square(%u)
  %w: f64 = sub %v, %v
  %x82: f64 = const 6562
  %sum: f64 = add %e, %x82
  %sum2: f64 = add %sum, %w
  yield %sum2
}

; Local arrays carried through a loop, a branch and a call; tables; copies stay what they were.
; arg x[4] = 3 1 2 0
; want x = 0 1 2 3
; want return = 3
func @swap(%a: f64[4], %i: i64, %j: i64) -> (f64[4]) {
  %x: f64 = extract %a[%i]
  %y: f64 = extract %a[%j]
  %b: f64[4] = insert %a[%i], %y
  %c: f64[4] = insert %b[%j], %x
  yield %c
}
kernel @sort(%x: buf<f64,1>) -> (f64) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %three: i64 = const 3
  %four: i64 = const 4
  %start: f64[4] = array
  %a: f64[4] = for %i: i64 = %zero to %four step 1 (%acc: f64[4] = %start) {
    %v: f64 = load %x[%i]
    %acc1: f64[4] = insert %acc[%i], %v
    yield %acc1
  }
  %kept: f64[4] = copy %a
  %s: f64[4] = for %p: i64 = %zero to %three step 1 (%b0: f64[4] = %a) {
    %b3: f64[4] = for %q: i64 = %zero to %three step 1 (%b1: f64[4] = %b0) {
      %r: i64 = add %q, %one
      %l: f64 = extract %b1[%q]
      %h: f64 = extract %b1[%r]
      %wrong: bool = gt %l, %h
      %b2: f64[4] = if %wrong {
        %sw: f64[4] = call @swap(%b1, %q, %r)
        yield %sw
      } else {
        yield %b1
      }
      yield %b2
    }
    yield %b3
  }
  %order: i64[4] = table {0, 1, 2, 3}
  for %i2: i64 = %zero to %four step 1 {
    %k: i64 = extract %order[%i2]
    %e: f64 = extract %s[%k]
    store %x[%i2], %e
    yield
  }
  %first: f64 = extract %kept[%zero]
  yield %first
}

; arg n 10
; arg steps [ 10 ] from 0 mod 10
; arg x [ 10 ]
; arg y [ 10 ]
; split
; The state of a block is a local array, changed in place.
kernel @block_array(%n: i32, %steps: buf<i32,1>, %x: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i32 = const 0
  %no: i64 = const 0
  %last: i64 = const 1
  parallel (%i: i32) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %m: i32 = load %steps[%i]
    %a0: f64[2] = array
    %a1: f64[2] = insert %a0[%no], %v
    %a2: f64[2] = insert %a1[%last], %v
    %a9: f64[2] = for %t: i32 = %zero to %m step 1 (%a: f64[2] = %a2) {
      %e: f64 = extract %a[%no]
      %f: f64 = extract %a[%last]
      %g: f64 = mul %e, %f
      %h: f64 = sin %g
      %b: f64[2] = insert %a[%no], %h
      %j: f64 = extract %b[%no]
      %l: f64 = add %j, %e
      %b1: f64[2] = insert %b[%last], %l
      yield %b1
    }
    %o: f64 = extract %a9[%no]
    %o2: f64 = extract %a9[%last]
    %o3: f64 = mul %o, %o2
    store %y[%i], %o3
    yield
  }
  yield
}

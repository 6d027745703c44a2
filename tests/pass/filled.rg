; An array that a loop sets before anything looks at it is not set to zero first; one that the loop reads, also behind the element that it
; sets, one that is only read in a loop and one that is filled in part are.
; stage ad
; count lower_arrays slot_zero 4
; arg n = 4
; arg x[4] = 1 2 3 4
; want return = 20
; want return1 = 28
; want return2 = 0
; want return3 = 9
; want return4 = 4
kernel @filled(%n: i64, %x: buf<f64,1>) -> (f64, f64, f64, f64, f64) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %four: i64 = const 4
  %nil: f64 = const 0
  %two: f64 = const 2
  %a: f64[4] = array
  %full: f64[4] = for %i: i64 = %zero to %four step 1 (%b: f64[4] = %a) {
    %v: f64 = load %x[%i]
    %w: f64 = mul %v, %two
    %c: f64[4] = insert %b[%i], %w
    yield %c
  }
  %s: f64 = for %j: i64 = %zero to %four step 1 (%t: f64 = %nil) {
    %e: f64 = extract %full[%j]
    %u: f64 = add %t, %e
    yield %u
  }
  %a2: f64[4] = array
  %read: f64[4] = for %i2: i64 = %zero to %four step 1 (%b2: f64[4] = %a2) {
    %old: f64 = extract %b2[%one]
    %v2: f64 = load %x[%i2]
    %w2: f64 = add %v2, %old
    %c2: f64[4] = insert %b2[%i2], %w2
    yield %c2
  }
  %p0: f64 = extract %read[%zero]
  %p1: f64 = extract %read[%one]
  %three: i64 = const 3
  %two2: i64 = const 2
  %p2: f64 = extract %read[%two2]
  %p3: f64 = extract %read[%three]
  %q0: f64 = add %p0, %p1
  %q1: f64 = add %p2, %p3
  %q: f64 = add %q0, %q1
  %fac: f64 = mul %q, %two
  %a3: f64[4] = array
  %s3: f64 = for %j3: i64 = %zero to %four step 1 (%t3: f64 = %nil) {
    %e3: f64 = extract %a3[%j3]
    %u3: f64 = add %t3, %e3
    yield %u3
  }
  %a4: f64[4] = array
  %part: f64[4] = for %i4: i64 = %one to %four step 1 (%b4: f64[4] = %a4) {
    %v4: f64 = load %x[%i4]
    %c4: f64[4] = insert %b4[%i4], %v4
    yield %c4
  }
  %s4: f64 = for %j4: i64 = %zero to %four step 1 (%t4: f64 = %nil) {
    %e4: f64 = extract %part[%j4]
    %u4: f64 = add %t4, %e4
    yield %u4
  }
  %last: i64 = const 3
  %a5: f64[4] = array
  %ahead: f64[4], %s5: f64 = for %i5: i64 = %zero to %four step 1 (%b5: f64[4] = %a5, %t5: f64 = %nil) {
    %v5: f64 = load %x[%i5]
    %c5: f64[4] = insert %b5[%i5], %v5
    %e5: f64 = extract %c5[%last]
    %u5: f64 = add %t5, %e5
    yield %c5, %u5
  }
  yield %s, %fac, %s3, %s4, %s5
}

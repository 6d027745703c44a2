; stage: source
; expect: error[E0212]: @k: this op does not belong to this stage
; expect: error[E0212]: @k: recording does not belong to this stage
; expect: error[E0212]: @k: value c (number 1) has a type that does not belong to this stage
kernel @k(%n: i32) {
  %c: cursor = tape_begin
  %s: slot<f32,4> = slot
  for records %i: i32 = %n to %n step 1 {
    yield
  }
  yield
}

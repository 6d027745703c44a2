; expect: error[E0207]: @k: the if takes 1 values here, not 0
; expect: error[E0207]: @k: value 0 is not of the type that the body's yield has there
; expect: error[E0207]: @k: the loop's result takes 1 values here, not 0
; expect: error[E0208]: @k: an exit_if stands at the top level of a loop's body
; expect: error[E0208]: @k: a loop has an exit_if at the top level of its body
; expect: error[E0206]: @k: the step is not 0 and fits the index's type
; expect: error[E0204]: @k: bounds and index of a for are of one integer type
; expect: error[E0207]: @k: value 0 is a buffer, trace or slot
kernel @k(%b: bool, %x: f32, %n: i32, %p: buf<f32,1>) {
  %y: f32 = if %b {
    yield %x
  }
  for %i: i32 = %n to %n step 1 (%v: f32 = %x) {
    yield %n
  }
  %r: f32 = loop (%w: f32 = %x) {
    exit_if %b
    yield %w
  }
  loop {
    if %b {
      exit_if %b
      yield
    }
    yield
  }
  for %j: i32 = %n to %n step 0 {
    yield
  }
  for %k: f32 = %x to %x step 1 {
    yield
  }
  %q: buf<f32,1> = if %b {
    yield %p
  } else {
    yield %p
  }
  yield
}

; expect: error[E0211]: @k: local array a is used after it was consumed
; expect: = help: copy it before the first use that consumes it
; expect: error[E0211]: @k: a local array of outside is consumed by each iteration
; expect: error[E0211]: @k: a table is read-only and cannot be consumed
; expect: error[E0211]: @k: local array either is used after it was consumed
; expect: error[E0211]: @k: local array gone is used after it was consumed
; expect: error[E0211]: @k: a local array leaves the loop twice
kernel @k(%i: i64, %x: f32, %c: bool) {
  %a: f32[2] = array
  %b: f32[2] = insert %a[%i], %x
  %e: f32 = extract %a[%i]
  for %j: i64 = %i to %i step 1 {
    %d: f32[2] = insert %b[%i], %x
    yield
  }
  %t: f32[2] = table {1, 2}
  %u: f32[2] = insert %t[%i], %x
  %either: f32[2] = array
  if %c {
    %f: f32[2] = insert %either[%i], %x
    yield
  }
  %g: f32[2] = insert %either[%i], %x
  %gone: f32[2] = array
  %h: f32[2] = loop {
    exit_if %c (%gone)
    yield
  }
  %l: f32[2] = insert %gone[%i], %x
  %m: f32[2], %n: f32[2] = loop (%o: f32[2] = %h) {
    exit_if %c (%o, %o)
    yield %o
  }
  yield
}

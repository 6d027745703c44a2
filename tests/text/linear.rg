; Every way to hand a local array on, each value consumed once on each path.
kernel @k(%i: i64, %x: f32, %c: bool, %out: buf<f32,0>) {
  %a: f32[2] = array
  %b: f32[2] = if %c {
    %b1: f32[2] = insert %a[%i], %x
    yield %b1
  } else {
    yield %a
  }
  %keep: f32[2] = copy %b
  %f: f32[2] = for %j: i64 = %i to %i step 1 (%p: f32[2] = %b) {
    %e: f32 = extract %p[%j]
    %k: f32 = extract %keep[%j]
    %s: f32 = add %e, %k
    %p1: f32[2] = insert %p[%j], %s
    yield %p1
  }
  %outer: f32[2] = array
  %l: f32[2] = loop (%q: f32[2] = %f) {
    exit_if %c (%q)
    %q1: f32[2] = insert %q[%i], %x
    exit_if %c (%outer)
    yield %q1
  }
  %t: f32[2] = table {1, 2}
  %t1: f32[2] = copy %t
  %t2: f32[2] = insert %t1[%i], %x
  %v: f32 = extract %l[%i]
  store %out[], %v
  yield
}

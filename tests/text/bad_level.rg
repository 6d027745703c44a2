; expect: error[E0209]: @k: parallel stands at kernel level only
; expect: error[E0209]: @k: temp stands at kernel level only
; expect: error[E0209]: @k: pick stands at kernel level only
kernel @k(%n: i32, %p: buf<f32,1>) {
  parallel (%i: i32) = (%n) to (%n) {
    parallel (%j: i32) = (%n) to (%n) {
      yield
    }
    %t: buf<f32,0> = temp
    %q: buf<f32,1> = pick %n, %p
    yield
  }
  yield
}

; Every subscript is asserted to be inside, of planes above the first too; one may leave its row but not the array.
; arg n = 2
; arg x[2,3] = 1 2 3 4 5 6
; arg y[6] = 0
; arg y.adj = 1
; want y = 1 2 3 4 5 6
; want y.adj = 1 1 4 1 1 1
; count check_subscripts assert 4
kernel @checked(%n: i32, %x: buf<f32,2>, %y: buf<f32,1>) {
  %zero: i32 = const 0
  %six: i32 = const 6
  %three: f32 = const 3
  parallel (%i: i32) = (%zero) to (%six) {
    %v: f32 = load %x[%zero, %i]
    store %y[%i], %v
    yield
  }
  rmw.add.adj %y[%n], %three
  yield
}

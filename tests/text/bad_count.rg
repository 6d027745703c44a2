; expect: error[E0110]: a table's result is an array of as many elements as the list holds (here 2)
; expect: error[E0110]: a parallel loop has as many bounds as indices (here 2)
kernel @k(%n: i32) {
  %t: i32[3] = table {1, 2}
  parallel (%i: i32, %j: i32) = (%n) to (%n, %n) {
    yield
  }
  yield
}

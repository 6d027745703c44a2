; A row may be walked past its end while the element stays inside the array.
; arg x[2,3] = 1 2 3 4 5 6
; want return = 6
kernel @k(%x: buf<i32,2>) -> (i32) {
  %zero: i64 = const 0
  %five: i64 = const 5
  %v: i32 = load %x[%zero, %five]
  yield %v
}

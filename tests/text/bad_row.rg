; expect: error[E0111]: this operation cannot have such a suffix
; expect: bad_row.rg:5
; expect: bad_row.rg:6
kernel @k(%x: buf<f32,1>, %a: f32) {
  %b: f32 = add.row %a, %a
  %c: f32 = load.row.row %x[%a]
  yield
}

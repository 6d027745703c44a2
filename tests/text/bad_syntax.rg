; expect: bad_syntax.rg:5:23: error[E0102]: `=` should stand here, not `%n`
; expect: 5 |           for %i: i32 %n to
kernel @k(%n: i32) {
  ; columns count bytes from 1
          for %i: i32 %n to %n step 1 {
    yield
  }
  yield
}

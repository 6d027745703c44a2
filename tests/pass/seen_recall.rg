; stage ad
; A recall of what can be seen is the value itself, of a local array too: folding leaves none.
; count opt_fold recall 0
; count opt_fold copy 0
; arg x = 3
; arg out[2] = 0
; want out = 6 3
kernel @k(%x: f64, %out: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %a: f64[2] = array
  %b: f64[2] = insert %a[%one], %x
  %again: f64 = recall %x
  %c: f64[2] = recall %b
  %e: f64 = extract %c[%one]
  %s: f64 = add %again, %e
  store %out[%zero], %s
  %f: f64[2] = insert %c[%zero], %s
  %g: f64 = extract %f[%one]
  store %out[%one], %g
  yield
}

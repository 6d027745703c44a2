; expect: error[E0101]: a string has an escape that is not known
kernel @k(%b: bool) {
  assert %b, "\q"
  yield
}

; expect: error[E0108]: no function of this name is in the module
kernel @k() {
  call @missing()
  yield
}

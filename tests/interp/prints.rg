; print -1 4294967295 ff   1.50 100% c\n
kernel @k() {
  %m: i32 = const -1
  %b: u8 = const 255
  %f: f64 = const 1.5
  %c: i32 = const 99
  print "%d %u %hhx %6.2lf 100%% %c\n", %m, %m, %b, %f, %c
  yield
}

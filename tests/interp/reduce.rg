; Reductions of two indices; f32 sums are formed in f64.
; arg n = 3
; arg m = 4
; want return = 16777216
; want return1 = 11
; want return2 = 6
kernel @k(%n: i64, %m: i64) -> (f32, i64, u8) {
  %zero: i64 = const 0
  %big: f32 = const 16777204
  %one: f32 = const 1
  %least: i64 = const -5
  %mask: u8 = const 7
  %sum: f32, %most: i64, %bits: u8 = parallel (%i: i64, %j: i64) = (%zero, %zero) to (%n, %m) reduce (add %big, max %least, and %mask) {
    %k: i64 = mul %i, %m
    %l: i64 = add %k, %j
    %six: u8 = const 14
    yield %one, %l, %six
  }
  yield %sum, %most, %bits
}

; A loop over three indices becomes one over their number; one whose rows are 32 threads stays.
; arg a = -1
; arg n = 3
; arg x[2,3,5] = 0
; arg y[2,32] = 0
; want x = -1 0 1 2 3 9 10 11 12 13 19 20 21 22 23 99 100 101 102 103 109 110 111 112 113 119 120 121 122 123
; want return = 2016
; count lower_domain parallel 2
; count lower_domain if 1
kernel @domain(%a: i32, %n: i32, %x: buf<f32,3>, %y: buf<f32,2>) -> (i64) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %four: i32 = const 4
  %ten: i32 = const 10
  %hundred: i32 = const 100
  %row: i32 = const 32
  %none: i64 = const 0
  parallel (%i: i32, %j: i32, %k: i32) = (%zero, %zero, %a) to (%two, %n, %four) {
    %p: i32 = mul %i, %hundred
    %q: i32 = mul %j, %ten
    %r: i32 = add %p, %q
    %s: i32 = add %r, %k
    %v: f32 = cast %s
    %l: i32 = add %k, %one
    store %x[%i, %j, %l], %v
    yield
  }
  %sum: i64 = parallel (%i2: i32, %j2: i32) = (%zero, %zero) to (%two, %row) reduce (add %none) {
    %p2: i32 = mul %i2, %row
    %r2: i32 = add %p2, %j2
    %s2: i64 = cast %r2
    yield %s2
  }
  yield %sum
}

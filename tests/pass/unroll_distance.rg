; Loops whose bounds differ by a constant, up and down. Where the further bound may wrap the iterations stand in an if: the loop from
; %m does not run. A longer one stays.
; count opt_unroll for 2
; count opt_unroll if 2
; arg n = 3
; arg m = 2147483646
; arg out[5] = 0
; want out = 25 24 7 0 4
kernel @k(%n: i32, %m: i32, %out: buf<i32,1>) {
  %0: i32 = const 0
  %1: i32 = const 1
  %2: i32 = const 2
  %3: i32 = const 3
  %4: i32 = const 4
  %7: i32 = const 7
  %few: i32 = and %n, %7
  for %i: i32 = %0 to %few step 1 {
    %end: i32 = add %i, %2
    %squares: i32 = for %j: i32 = %i to %end step 1 (%s: i32 = %0) {
      %square: i32 = mul %j, %j
      %more: i32 = add %s, %square
      %next: i32 = add %more, %i
      yield %next
    }
    rmw.add %out[%0], %squares
    %top: i32 = add %i, %4
    for %down: i32 = %top to %i step -2 {
      rmw.add %out[%1], %down
      yield
    }
    yield
  }
  %n2: i32 = add %n, %2
  %sum: i32 = for %j2: i32 = %n to %n2 step 1 (%s2: i32 = %0) {
    %t2: i32 = add %s2, %j2
    yield %t2
  }
  store %out[%2], %sum
  %m2: i32 = add %m, %2
  for %j3: i32 = %m to %m2 step 1 {
    rmw.add %out[%3], %1
    yield
  }
  %n4: i32 = add %4, %n
  for %j4: i32 = %n to %n4 step 1 {
    rmw.add %out[%4], %1
    yield
  }
  yield
}

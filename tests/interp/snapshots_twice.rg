; stage ad
; An array kept whole in each iteration of a loop is brought back twice: the iteration's frames are then not taken one
; behind the other.
; arg x[3] = 1 2 3
; arg out[6] = 0
; arg again[2] = 0
; want x = 11 12 13
; want out = 6 7 8 1 2 3
; want again = 8 3
kernel @k(%x: buf<i32,1>, %out: buf<i32,1>, %again: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %three: i32 = const 3
  %five: i32 = const 5
  %n: i64 = const 3
  %count: i64 = const 2
  %t: trace = for records %i: i32 = %zero to %two step 1 {
    %s: trace = snapshot %x
    parallel (%k: i32) = (%zero) to (%three) {
      %old: i32 = load %x[%k]
      %new: i32 = add %old, %five
      store %x[%k], %new
      yield
    }
    yield
  }
  %kept: buf<i32,1> = temp %n
  %late: buf<i32,1> = temp %n
  %at: i32 = unwind %t, %count (%j: i64, %p: i32 = %zero) {
    %rs: trace = recall %s
    restore %kept, %rs
    parallel (%k2: i32) = (%zero) to (%three) {
      %e: i32 = load %kept[%k2]
      %q: i32 = add %p, %k2
      store %out[%q], %e
      yield
    }
    restore %late, %rs
    %j32: i32 = cast %j
    %last: i32 = load %late[%two]
    %slot: i32 = sub %one, %j32
    store %again[%slot], %last
    %p1: i32 = add %p, %three
    yield %p1
  }
  yield
}

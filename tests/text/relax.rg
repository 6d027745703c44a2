; A ragged recurrence with a break, as the front end makes it and as its reverse looks.
kernel @relax(%n: i32, %steps: buf<i32,1> const, %x: buf<f32,1> flat const, %loss: buf<f32,1>)
shape { %a: i64 = cast %n  %any: i64 = const -1  yield %a, %a, %any } {
  %lo: i32 = const 0
  %one: i32 = const 1
  %two: f32 = const 2
  %tenth: f32 = const 0.1
  parallel (%i: i32) = (%lo) to (%n) {
    %v0: f32 = load %x[%i] @ relax.c:8:19-23
    %m: i32 = load %steps[%i]
    %r: f32 = loop (%t: i32 = %lo, %v: f32 = %v0) @ relax.c:9:9 {
      %done: bool = ge %t, %m
      exit_if %done (%v)
      %big: bool = gt %v, %two
      exit_if %big (%v)
      %s: f32 = sin %v @ "dir with blank/relax.c":11:17 in @step relax.c:10:3
      %w: f32 = add %s, %tenth
      %t1: i32 = add %t, %one
      yield %t1, %w
    }
    rmw.add.atomic %loss[%lo], %r
    yield
  }
  yield
}

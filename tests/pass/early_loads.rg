; stage ad
; The loads of %y come out of the branch, the second of them behind the first one, which its subscript is; that of %z
; does not pass the store to it, and where the branch is taken for other lanes the load of %w stays in it: it would be
; outside of %w.
; arg n = 6
; arg m = 2
; arg x[6] = 1 2 3 4 5 6
; arg y[6] = 5 4 3 2 1 0
; arg z[6] = 7
; arg w[2] = 8 9
; want x = 10 10 10 10 5 6
; want z = 1 2 3 4 7 7
; want r = 1 2 3 4 0 0
; want s = 0 0 0 0 8 9
; arg r[6] = 0
; arg s[6] = 0
kernel @early(%n: i64, %m: i64, %x: buf<f32,1>, %y: buf<i64,1>, %z: buf<f32,1>, %w: buf<f32,1>, %r: buf<f32,1>, %s: buf<f32,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %four: i64 = const 4
  %five: i64 = const 5
  %six: i64 = const 6
  %nil: f32 = const 0
  parallel (%i: i64, %all: boolx4) = (%zero) to (%n) {
    %lane: i64x4 = lane
    %own: i64x4 = add %i, %lane
    %a: f32x4 = load.successive %x[%i] if %all
    %first: boolx4 = lt %own, %four
    %k: boolx4 = and %all, %first
    %any: bool = lanes_any %k
    %c: f32x4 = if %any {
      store.successive %z[%i], %a if %k
      %b: i64x4 = load.successive %y[%i] if %k
      %back: i64x4 = sub %five, %b
      %d: i64x4 = load %y[%back] if %k
      %e: f32x4 = cast %d
      %f: f32x4 = load.successive %z[%i] if %k
      store.successive %r[%i], %f if %k
      %g: f32x4 = add %e, %f
      yield %g
    } else {
      %h: f32x4 = splat %nil
      yield %h
    }
    %last: bool = ge %i, %four
    if %last {
      %j: i64x4 = sub %own, %four
      %v: f32x4 = load %w[%j] if %all
      store %s[%own], %v if %all
      yield
    } else {
      yield
    }
    %four_f: f32 = const 4
    %t: f32x4 = add %c, %four_f
    %u: f32x4 = select %k, %t, %a
    store.successive %x[%i], %u if %all
    yield
  }
  yield
}

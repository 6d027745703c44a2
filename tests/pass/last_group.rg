; stage slots
; Sweeps in a sweep: what the inner one asks for last stays where it is when the outer one's last group moves.
; count opt_last_group if 4
; tolerance 1e-14
; arg n = 3
; arg q = 3
; arg some = 1
; arg x[3] = 0.25 0.5 0.75
; arg r[3] = 0
; want r = 3.994793353702681 3.994876714233234 3.9950786631288482
kernel @groups(%n: i64, %q: i64, %some: i64, %x: buf<f64,1>, %r: buf<f64,1>) {
  %zero: i64 = const 0
  %nil: f64 = const 0
  parallel (%i: i64, %m: boolx4) = (%zero) to (%n) {
    %a: f64x4 = load.successive %x[%i] if %m
    %left: bool = gt %some, %zero
    %all: boolx4 = splat %left
    %mine: boolx4 = and %all, %m
    %start: f64x4 = splat %nil
    %tape: cursor = tape_begin
    %v: f64x4, %end: cursor = for %t: i64 = %zero to %q step 1 (%w: f64x4 = %a, %at: cursor = %tape) {
      %state: cursor = tape_push %at, %w
      %k: f64x4 = sin %w
      %u: f64x4, %inner: cursor = for %s: i64 = %zero to %q step 1 (%p: f64x4 = %w, %from: cursor = %state) {
        %to: cursor = tape_push %from, %p
        %b: f64x4 = sin %p
        %c: f64x4 = cos %b
        %d: f64x4 = mul %c, %k
        yield %d, %to
      }
      %any: bool = lanes_any %mine
      %rest: f64x4 = if %any {
        %double: f64x4 = add %u, %u
        yield %double
      } else {
        yield %start
      }
      %e: f64x4 = sin %w
      %f: f64x4 = cos %e
      %g: f64x4 = add %f, %rest
      yield %g, %inner
    }
    %most: bool = lanes_any %mine
    %o: f64x4 = if %most {
      %twice: f64x4 = add %v, %v
      yield %twice
    } else {
      yield %start
    }
    store.successive %r[%i], %o if %m
    tape_end %tape
    yield
  }
  yield
}

; arg x [ 4 ]
; arg c [ 3 ]
; arg y [ 4 ]
; split
; A loop left amid the frames of an inner loop, by an exit whose reverse has no use for them; around it a
; third loop, an inner loop in a branch, and two inner loops in a row of which the second has no part in
; the result of every exit.
kernel @amid(%x: buf<f64,1>, %c: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %three: i64 = const 3
  %n: i64 = extent %x, 0
  parallel (%i: i64) = (%zero) to (%n) {
    %v: f64 = load %x[%i]
    %out: f64 = for %o: i64 = %zero to %three step 1 (%w: f64 = %v) {
      %r: f64 = loop (%t: f64 = %w, %k: i64 = %zero) {
        %lim: i64 = add %o, %three
        %end: bool = ge %k, %lim
        exit_if %end (%t)
        %s: f64 = for %j: i64 = %zero to %k step 1 (%a: f64 = %t) {
          %q: i64 = rem %j, %three
          %cj: f64 = load %c[%q]
          %m: f64 = mul %a, %cj
          %sm: f64 = sin %m
          yield %sm
        }
        %small: f64 = const 0.05
        %hit: bool = lt %s, %small
        exit_if %hit (%t)
        %odd: i64 = rem %k, %three
        %is: bool = eq %odd, %one
        %u: f64 = if %is {
          %u1: f64 = for %j2: i64 = %zero to %three step 1 (%a2: f64 = %s) {
            %e: f64 = mul %a2, %t
            %e1: f64 = cos %e
            yield %e1
          }
          yield %u1
        } else {
          yield %s
        }
        %z: f64 = for %j3: i64 = %zero to %o step 1 (%a3: f64 = %t) {
          %e3: f64 = mul %a3, %u
          %e4: f64 = tanh %e3
          yield %e4
        }
        %t1: f64 = add %u, %z
        %big: f64 = const 1.3
        %over: bool = gt %t1, %big
        exit_if %over (%u)
        %k1: i64 = add %k, %one
        yield %t1, %k1
      }
      %half: f64 = const 0.7
      %rh: f64 = mul %r, %half
      yield %rh
    }
    store %y[%i], %out
    yield
  }
  yield
}

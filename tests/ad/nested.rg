; arg n 3
; arg x [ 3 ]
; arg c [ 5 ]
; arg y [ 3 ]
; split
; A while inside a for inside a parallel loop; a branch inside the inner loop; loads in some iterations.
kernel @nested(%n: i64, %x: buf<f64,1>, %c: buf<f64,1>, %y: buf<f64,1>) {
  %zero: i64 = const 0
  %one: i64 = const 1
  %five: i64 = const 5
  parallel (%i: i64) = (%zero) to (%n) {
    %v0: f64 = load %x[%i]
    %out: f64 = for %j: i64 = %zero to %five step 2 (%v: f64 = %v0) {
      %lim: i64 = add %j, %i
      %w: f64, %k9: i64 = loop (%k: i64 = %zero, %u: f64 = %v) {
        %stop: bool = ge %k, %lim
        exit_if %stop (%u, %k)
        %two: i64 = const 2
        %odd: i64 = rem %k, %two
        %is: bool = eq %odd, %one
        %u1: f64 = if %is {
          %kk: i64 = rem %k, %five
          %f: f64 = load %c[%kk]
          %g: f64 = mul %f, %u
          %s: f64 = sin %g
          yield %s
        } else {
          %s2: f64 = mul %u, %v0
          %s3: f64 = cos %s2
          yield %s3
        }
        %k1: i64 = add %k, %one
        yield %k1, %u1
      }
      %h: f64 = const 0.5
      %hw: f64 = mul %w, %h
      %e: f64 = exp %hw
      %nv: f64 = mul %e, %v
      %z: f64 = tanh %nv
      yield %z
    }
    store %y[%i], %out
    yield
  }
  yield
}

func @cube(%x: f64, %w: f64[2]) -> (f64) {
  %s: f64 = mul %x, %x
  %c: f64 = mul %s, %x
  yield %c
}

func @root_vjp(%a: f64, %n: i32, %r: f64, %g: f64) -> (f64) {
  %h: f64 = div %g, %r
  yield %h
}

func @root_jvp(%a: f64, %n: i32, %r: f64, %t: f64) -> (f64) {
  %h: f64 = div %t, %r
  yield %h
}

func @root(%a: f64, %n: i32) -> (f64) vjp @root_vjp jvp @root_jvp {
  %r: f64 = sqrt %a
  yield %r
}

kernel @k(%x: buf<f64,0>) {
  %v: f64 = load %x[]
  %w: f64[2] = array
  %w2: f64[2] = array
  %w3: f64[2] = array
  %t3: f64[2] = array
  %one: f64 = const 1
  %two: i32 = const 2
  %gx: f64, %gw: f64[2], %c: f64 = call.vjp @cube(%v, %w, %one)
  %tc: f64, %c2: f64 = call.jvp @cube(%v, %w2, %one, %t3)
  %seed: f64 = const 0
  %t4: f64[2] = array
  %hx: f64, %hw: f64[2], %tc3: f64, %gx3: f64, %gw3: f64[2], %c3: f64 = call.vjp.jvp.again @cube(%v, %w3, %one, %one, %t4, %seed)
  %r: f64 = call @root(%c3, %two)
  store %x[], %r
  yield
}

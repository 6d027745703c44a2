; expect: error[E0204]: @k: add cannot take operands of these types
; expect: error[E0204]: @k: sin cannot take operands of these types
; expect: error[E0205]: @k: result 0 is not of the type that it must have
; expect: error[E0204]: @k: extract takes 2 operands here, not 1
; expect: error[E0204]: @k: operand 1 is not an integer
; expect: error[E0204]: @k: an access of a buffer of rank 1 has as many indices
; expect: error[E0206]: @k: only floats have adjoints and tangents
; expect: error[E0206]: @k: f32 has no such update or reduction
; expect: error[E0206]: @k: the kernel promises not to write this parameter
; expect: error[E0204]: @k: operand 0 is not a buffer, or a float parameter
; expect: error[E0206]: @k: the buffer has no such axis
; expect: error[E0204]: @k: bitcast cannot take operands of these types
kernel @k(%i: i32, %x: f32, %p: buf<f32,1>, %q: buf<i32,1>, %c: buf<f32,1> const) {
  %a: i32 = add %i, %x
  %b: i32 = sin %i
  %d: i32 = lt %x, %x
  %t: i32[2] = table {1, 2}
  %e: i32 = extract %t
  %f: f32 = load %p[%x]
  %g: f32 = load %p[%i, %i]
  %h: i32 = load.adj %q[%i]
  rmw.and %p[%i], %x
  store %c[%i], %x
  %j: f32 = load %x
  %k: i64 = extent %p, 1
  %l: i64 = bitcast %x
  yield
}

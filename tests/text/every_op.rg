; stage: source
; One of everything that source code can be made of.
func @twice(%x: f64, %a: f64[3]) -> (f64, f64[3]) {
  %k: i64 = const 0x1
  %y: f64 = add %x, %x
  %b: f64[3] = insert %a[%k], %y
  yield %y, %b
}
kernel @ops(%n: i64, %h: f16, %x: f64, %p: buf<f64,2>, %q: buf<f64,2>, %z: buf<u8,0>,
            %mass: buf<f32,1> record(1, 4, 16)) -> (f64) {
  %nan: f64 = const nan
  %odd: f64 = const nan:0x7ff8000000000123
  %inf: f32 = const -inf
  %tiny: f64 = const 0x1p-1074
  %b: bool = const true
  %0: u64 = const 18446744073709551615
  %1: i64 = const -9223372036854775808
  %zero: i64 = const 0
  %sel: i32 = const 1
  %half: f16 = const 0.333
  %e: i64 = extent %p, 1
  %pq: buf<f64,2> = pick %sel, %p, %q
  %t: buf<f32,2> = temp %n, %e
  %t0: buf<f32,0> = temp.own
  %u: u8 = load %z[]
  %"a name": f64 = load %pq[%zero, %zero]
  %seen: f64 = load.atomic %pq[%zero, %zero]
  store.adj.tan %p[%zero, %zero], %x
  %g: f64 = load.adj %x
  rmw.add.adj.atomic %x, %g
  %old: f64 = rmw.cas %q[%zero, %zero], %x, %g
  %arr: f64[3] = array
  %tab: i32[3] = table {1, -2, 3}
  %ft: f32[2] = table {0.1, inf}
  %el: i32 = extract %tab[%zero]
  %arr2: f64[3] = copy %arr
  %r: f64, %arr3: f64[3] = call @twice(%x, %arr2)
  %arr4: f64[3] = insert %arr3[%zero], %r
  %i: i32 = cast %x
  %bits: i64 = bitcast %x
  %m: f64 = fma %x, %r, %g
  %fast: f64 = mul.fast %x, %x
  %ex: i32 = exponent %x
  %ld: f64 = ldexp %x, %ex
  %s: f64 = select %b, %x, %g
  if %b {
    print "x = %g\n\t\"quoted\" \\ \x01 100%%\n", %x
    yield
  }
  %if: f64 = if %b {
    yield %x
  } else {
    yield %g
  }
  %f: f64 = for %j: i64 = %zero to %n step -3 (%acc: f64 = %x) {
    %acc1: f64 = mul %acc, %acc
    yield %acc1
  }
  for %j2: i64 = %zero to %n step 1 {
    yield
  }
  %sum: f64, %top: f64 = parallel (%pi: i64, %pj: i64) = (%zero, %zero) to (%n, %e) reduce (add %x, max %g) {
    %v: f64 = load %q[%pi, %pj]
    yield %v, %v
  }
  assert %b, "always"
  yield %sum
}

; Additions to overlapping neighbours are one: with a mask for each, and nothing where no lane adds (x); only along a row (y);
; not across what reads an element that they reach (z); and no more of them than span a vector (w).
; stage ad
; arg n = 21
; arg on[24] = 0 0 1 0 1 1 0 1 0 0 1 1 1 0 0 1 0 1 1 0 1 0 0 0
; arg even[24] = 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0
; arg x[24] = 0
; arg x.adj = 0.5
; arg y[2,24] = 0
; arg y.adj = 0
; arg z[24] = 0
; arg z.adj = 3
; arg w[40] = 0
; arg w.adj = 0
; want x.adj = 1001.5 1.5 1101.5 1111.5 101.5 1111.5 111.5 101.5 1111.5 1101.5 1101.5 111.5 111.5 1111.5 101.5 1101.5 1111.5 101.5 1111.5 110.5 100.5 10.5 0.5 0.5
; want y.adj = 0 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 0 4 4 6 6 6 6 6 6 6 6 6 6 6 6 6 6 6 6 6 2 2 0 0
; want z.adj = 3 3 13 12 13 12 13 12 13 12 13 12 13 12 13 12 13 12 13 12 13 12 3 3
; want w.adj = 0 0 1 1 1 1 5 5 5 5 5 7 7 7 15 15 15 15 15 15 15 14 14 14 14 10 10 10 10 10 8 8 8 0 0 0 0 0 0 0
; code 11 call void @llvm.masked.store.v8f64
; code 3 call void @llvm.masked.store.v2f64
; code 2 call void @llvm.masked.store.v8f32
kernel @windows(%n: i32, %on: buf<i32,1>, %even: buf<i32,1>, %x: buf<f64,1>, %y: buf<f32,2>, %z: buf<f64,1>, %w: buf<f64,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %two: i32 = const 2
  %c4: i32 = const 4
  %c9: i32 = const 9
  %c12: i32 = const 12
  %a1: f64 = const 1
  %a2: f64 = const 2
  %a4: f64 = const 4
  %a5: f64 = const 5
  %a7: f64 = const 7
  %a8: f64 = const 8
  %a10: f64 = const 10
  %a100: f64 = const 100
  %a1000: f64 = const 1000
  %nan: f64 = const nan
  %b1: f32 = const 1
  %b2: f32 = const 2
  %b4: f32 = const 4
  parallel (%i: i32, %m: boolx8) = (%two) to (%n) {
    %o: i32x8 = load.successive %on[%i] if %m
    %is_on: boolx8 = ne %o, %zero
    %some: boolx8 = and %m, %is_on
    %e: i32x8 = load.successive %even[%i] if %m
    %is_even: boolx8 = ne %e, %zero
    %other: boolx8 = and %m, %is_even
    %left: i32 = sub %i, %two
    %before: i32 = sub %i, %one
    %right: i32 = add %i, %one
    rmw.add.successive.adj.atomic %x[%left], %a1 if %m
    %ten: f64x8 = select %some, %a10, %nan
    rmw.add.successive.adj.atomic %x[%right], %ten if %some
    rmw.add.successive.adj.atomic %x[%i], %a100 if %m
    rmw.add.successive.adj.atomic %y[%zero, %i], %b1 if %m
    rmw.add.successive.adj.atomic %y[%one, %right], %b2 if %m
    rmw.add.successive.adj.atomic %y[%one, %before], %b4 if %m
    %thousand: f64x8 = select %some, %a1000, %nan
    rmw.add.successive.adj.atomic %x[%left], %thousand if %some
    %four: i32 = add %i, %c4
    %nine: i32 = add %i, %c9
    %twelve: i32 = add %i, %c12
    rmw.add.successive.adj.atomic %w[%i], %a1 if %m
    rmw.add.successive.adj.atomic %w[%nine], %a2 if %m
    rmw.add.successive.adj.atomic %w[%four], %a4 if %m
    rmw.add.successive.adj.atomic %w[%twelve], %a8 if %m
    rmw.add.successive.adj %z[%i], %a1 if %other
    rmw.add.successive.adj %z[%right], %a2 if %other
    %v: f64x8 = load.successive.adj %z[%i] if %other
    %double: f64x8 = mul %v, %a2
    store.successive.adj %z[%i], %double if %other
    rmw.add.successive.adj %z[%right], %a7 if %other
    rmw.add.successive.adj %z[%i], %a5 if %other
    yield
  }
  yield
}

; Warps update elements at which lanes meet: one operation, in the order of the lanes, with results.
; simt 1
; stage ad
; arg n = 7
; arg at[7] = 1 0 1 1 0 2 1
; arg count[3] = 10 20 30
; arg best[3] = 3
; arg got[7] = -1
; arg ticket[7] = 0
; arg next[1] = 5
; want count = 12 24 31
; want best = 4 6 5
; want got = 20 10 21 22 11 30 23
; want ticket = 5 6 7 8 9 10 11
; want next = 12
kernel @updates(%n: i32, %at: buf<i32,1>, %count: buf<i32,1>, %best: buf<i32,1>, %got: buf<i32,1>, %ticket: buf<i32,1>, %next: buf<i32,1>) {
  %zero: i32 = const 0
  %one: i32 = const 1
  parallel (%i: i32, %m: boolx4) = (%zero) to (%n) {
    %k: i32x4 = load.successive %at[%i] if %m
    %ones: i32x4 = splat %one
    %old: i32x4 = rmw.add.atomic %count[%k], %ones if %m
    store.successive %got[%i], %old if %m
    %t: i32x4 = rmw.add.atomic %next[%zero], %ones if %m
    store.successive %ticket[%i], %t if %m
    %l: i32x4 = lane
    %j: i32x4 = add %i, %l
    rmw.max.atomic %best[%k], %j if %m
    yield
  }
  yield
}

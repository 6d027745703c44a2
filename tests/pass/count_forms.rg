; Bounds of every kind: <= and >= count in i64 when they might wrap, larger steps only below a known limit. A signed number that must not meet its bound starts before it.
; count simplify loop 1
; count simplify for 6
; print aaaaaaaabbbbbbbbcccdddddeeeeeeeffffffggggggggg
; arg n = 7
; arg u = 9
; arg b = 11
; want return = 8
; want return1 = -1
; want return2 = 12
; want return3 = 10
; want return4 = 7
; want return5 = 1
; want return6 = 9
; want return7 = 0
kernel @k(%n: i32, %u: u32, %b: i16) -> (i32, i32, i32, u32, i32, i32, u32, i32) {
  %zero: i32 = const 0
  %one: i32 = const 1
  %zerou: u32 = const 0
  %oneu: u32 = const 1
  %two: u32 = const 2
  %four: i32 = const 4
  %six: i32 = const 6
  %minus: i32 = const -1
  %wide: i32 = cast %b
  %le: i32 = loop (%i25: i32 = %zero) { %c25: bool = gt %i25, %n  exit_if %c25 (%i25)  print "a"  %j25: i32 = add %i25, %one  yield %j25 }
  %ge: i32 = loop (%i26: i32 = %n) { %c26: bool = lt %i26, %zero  exit_if %c26 (%i26)  print "b"  %j26: i32 = sub %i26, %one  yield %j26 }
  %by4: i32 = loop (%i27: i32 = %zero) { %c27: bool = ge %i27, %wide  exit_if %c27 (%i27)  print "c"  %j27: i32 = add %i27, %four  yield %j27 }
  %wrap: u32 = loop (%i28: u32 = %zerou) { %c28: bool = ge %i28, %u  exit_if %c28 (%i28)  print "d"  %j28: u32 = add %i28, %two  yield %j28 }
  %ne: i32 = loop (%i29: i32 = %zero) { %c29: bool = eq %i29, %n  exit_if %c29 (%i29)  print "e"  %j29: i32 = add %i29, %one  yield %j29 }
  %down: i32 = loop (%i30: i32 = %n) { %c30: bool = le %i30, %one  exit_if %c30 (%i30)  print "f"  %j30: i32 = add %i30, %minus  yield %j30 }
  %neu: u32 = loop (%i31: u32 = %zerou) { %c31: bool = eq %i31, %u  exit_if %c31 (%i31)  print "g"  %j31: u32 = add %i31, %oneu  yield %j31 }
  %none: i32 = loop (%i32: i32 = %zero) { %c32: bool = ge %i32, %minus  exit_if %c32 (%i32)  print "h"  %j32: i32 = add %i32, %one  yield %j32 }
  yield %le, %ge, %by4, %wrap, %ne, %down, %neu, %none
}

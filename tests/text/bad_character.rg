; expect: bad_character.rg:3:17: error[E0101]: a character that has no meaning here
func @f() -> () {
  %a: i32 = add # %b
  yield
}

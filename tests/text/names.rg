; Names that need quotes, and values without one.
func @"odd name\t%"(%"x y": f32, %5: f32) -> (f32) {
  %7: f32 = add %"x y", %5
  %"é.1": f32 = neg %7
  yield %"é.1"
}

; expect: error[E0213]: @f: functions do not call themselves, nor each other in a circle
func @f(%x: f32) -> (f32) {
  %y: f32 = call @g(%x)
  yield %y
}
func @g(%x: f32) -> (f32) {
  %y: f32 = call @h(%x)
  yield %y
}
func @h(%x: f32) -> (f32) {
  %y: f32 = call @f(%x)
  yield %y
}

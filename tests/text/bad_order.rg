; stage: ad
; expect: error[E0216]: @crossed: takes back what a task recorded while frames of a later one lie on top
; expect: error[E0216]: @in_iterations: takes back what a task recorded while frames of a later one lie on top
; expect: error[E0216]: @full_first: takes back what a task recorded while frames of a later one lie on top
; expect: error[E0216]: @full_only: takes back what a task recorded in full iterations of a loop, or in its last one
kernel @crossed(%n: i32, %x: f32, %z: buf<f32,1>) {
  %a: trace = parallel records (%i: i32) = (%n) to (%n) {
    %u: f32 = neg %x
    yield
  }
  %b: trace = parallel records (%j: i32) = (%n) to (%n) {
    %v: f32 = neg %x
    yield
  }
  parallel rewinds %a (%k: i32) = (%n) to (%n) {
    yield
  }
  parallel rewinds %b (%l: i32) = (%n) to (%n) {
    yield
  }
  yield
}
kernel @in_iterations(%n: i32, %c: i64, %x: f32) {
  %t: trace = for records %k: i32 = %n to %n step 1 {
    %a: trace = parallel records (%i: i32) = (%n) to (%n) {
      yield
    }
    %b: trace = parallel records (%j: i32) = (%n) to (%n) {
      yield
    }
    yield
  }
  unwind %t, %c (%m: i64) {
    %ta: trace = recall %a
    parallel rewinds %ta (%p: i32) = (%n) to (%n) {
      yield
    }
    %tb: trace = recall %b
    parallel rewinds %tb (%q: i32) = (%n) to (%n) {
      yield
    }
    yield
  }
  yield
}
kernel @full_first(%n: i32, %c: i64, %d: bool) {
  %t: trace = loop records {
    exit_if %d
    %a: trace = parallel records (%i: i32) = (%n) to (%n) {
      yield
    }
    %b: trace = parallel records (%j: i32) = (%n) to (%n) {
      yield
    }
    exit_if %d
    yield
  }
  unwind %t, %c (%m: i64) {
    %tb: trace = recall %b
    parallel rewinds %tb (%q: i32) = (%n) to (%n) {
      yield
    }
    yield
  }
  %last: trace = recall %a
  parallel rewinds %last (%q2: i32) = (%n) to (%n) {
    yield
  }
  yield
}
kernel @nested(%n: i32, %c: i64, %d: bool) {
  %first: trace = parallel records (%f: i32) = (%n) to (%n) {
    yield
  }
  parallel rewinds %first (%g: i32) = (%n) to (%n) {
    yield
  }
  %t: trace = loop records {
    exit_if %d
    %a: trace = parallel records (%i: i32) = (%n) to (%n) {
      yield
    }
    %b: trace = parallel records (%j: i32) = (%n) to (%n) {
      yield
    }
    exit_if %d
    yield
  }
  %last_b: trace = recall %b
  parallel rewinds %last_b (%o: i32) = (%n) to (%n) {
    yield
  }
  %last_a: trace = recall %a
  parallel rewinds %last_a (%q2: i32) = (%n) to (%n) {
    yield
  }
  unwind %t, %c (%m: i64) {
    %tb: trace = recall %b
    parallel rewinds %tb (%q: i32) = (%n) to (%n) {
      yield
    }
    %ta: trace = recall %a
    parallel rewinds %ta (%r: i32) = (%n) to (%n) {
      yield
    }
    yield
  }
  yield
}
kernel @full_only(%n: i32, %c: i64, %d: bool) {
  %t: trace = loop records {
    exit_if %d
    %a: trace = parallel records (%i: i32) = (%n) to (%n) {
      yield
    }
    exit_if %d
    yield
  }
  unwind %t, %c (%m: i64) {
    %ta: trace = recall %a
    parallel rewinds %ta (%q: i32) = (%n) to (%n) {
      yield
    }
    yield
  }
  yield
}

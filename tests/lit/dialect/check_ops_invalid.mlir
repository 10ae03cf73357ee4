// RUN: tenon-opt --split-input-file --verify-diagnostics %s

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{the constant is 'tensor<3xf32>', the tensor is 'tensor<2xf32>': write the constant with the tensor's shape and element type}}
  check.expect_eq_const(%a, dense<1.0> : tensor<3xf32>) : tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{the constant is 'tensor<2xf16>', the tensor is 'tensor<2xf32>'}}
  check.expect_almost_eq_const(%a, dense<1.0> : tensor<2xf16>) : tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xi32>) {
  // expected-error @+1 {{found 'tensor<2xi32>', near equality wants a floating-point element type: use 'check.expect_eq'}}
  check.expect_almost_eq(%a, %a) : tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{found atol = -1.000000e+00, a finite number >= 0 is wanted}}
  check.expect_almost_eq(%a, %a, atol -1.0) : tensor<2xf32>
  return
}

// -----

func.func @f(%a: i32) {
  // expected-error @+1 {{found 'i32', a tensor of numbers is wanted}}
  check.expect_all_true(%a) : i32
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{expected 'atol' or 'rtol'}}
  check.expect_almost_eq(%a, %a, tol 1.0) : tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{expected a number, 'atol' or 'rtol'}}
  check.expect_almost_eq(%a, %a, "1.0") : tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xi32>) {
  // expected-error @+1 {{found 'tensor<2xi32>', an integer is wanted: for a tensor use 'check.expect_all_true'}}
  check.expect_true(%a) : tensor<2xi32>
  return
}

// -----

func.func @f(%a: f32) {
  // expected-error @+1 {{found 'f32', an integer is wanted}}
  check.expect_false(%a) : f32
  return
}

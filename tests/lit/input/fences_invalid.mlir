// RUN: tenon-opt %s --split-input-file --tenon-read-input --verify-diagnostics

// expected-error @+1 {{'func.func' op has a fence; read are those that hal.tensor.import waits for, hal.tensor.barrier signals, and a call passes}}
func.func @through(%fence: !hal.fence) -> !hal.fence {
  // expected-error @+1 {{'func.return' op has a fence}}
  return %fence : !hal.fence
}

// -----

func.func @chosen(%c: i1) {
  %0 = util.null : !hal.fence
  // expected-error @-1 {{'util.null' op has a fence}}
  // expected-error @+1 {{'arith.select' op has a fence}}
  %1 = arith.select %c, %0, %0 : !hal.fence
  return
}

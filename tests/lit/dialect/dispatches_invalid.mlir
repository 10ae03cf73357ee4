// Dispatches that do not fit what they dispatch.
// RUN: tenon-opt --split-input-file --verify-diagnostics %s

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'mul' is declared here}}
  hal.executable.export @mul layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #ro, #rw]>)
      count(%device: !hal.device, %w: index) -> (index, index, index) {
    hal.return %w, %w, %w : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%w: index, %n: i32, %a: tensor<4xf32>) {
  // expected-error @+1 {{passes 3 tensor operands and 1 untied result, the layout of 'mul' has 3 bindings: declare a binding for each, or tie a result to the operand that it overwrites}}
  %0 = flow.dispatch @e::@mul[%w](%n, %a, %a, %a) : (i32, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'mul' is declared here}}
  hal.executable.export @mul layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #ro, #rw]>)
      count(%device: !hal.device, %w: index) -> (index, index, index) {
    hal.return %w, %w, %w : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%w: index, %n: i32, %a: tensor<4xf32>) {
  // expected-error @+1 {{passes 1 tensor operand and 1 untied result, the layout of 'mul' has 3 bindings: pass a tensor for each binding}}
  %0 = flow.dispatch @e::@mul[%w](%n, %a) : (i32, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'mul' is declared here}}
  hal.executable.export @mul layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #ro, #rw]>)
      count(%device: !hal.device, %w: index) -> (index, index, index) {
    hal.return %w, %w, %w : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%w: index, %n: i32, %a: tensor<4xf32>) {
  // expected-error @+1 {{passes 2 scalars, the layout of 'mul' has 1 constant: pass one scalar for each constant, or declare 'constants = 2'}}
  %0 = flow.dispatch @e::@mul[%w](%n, %n, %a, %a) : (i32, i32, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'mul' is declared here}}
  hal.executable.export @mul layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #ro, #rw]>)
      count(%device: !hal.device, %w: index) -> (index, index, index) {
    hal.return %w, %w, %w : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%w: index, %n: i32, %a: tensor<4xf32>) {
  // expected-error @+1 {{gives 0 workload values, the count region of 'mul' takes 1 after the device: write them as [%w, ..] behind the name}}
  %0 = flow.dispatch @e::@mul(%n, %a, %a) : (i32, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'mul' is declared here}}
  hal.executable.export @mul layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #ro, #rw]>)
      count(%device: !hal.device, %w: index) -> (index, index, index) {
    hal.return %w, %w, %w : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%w: index, %n: i32, %a: tensor<4xf32>) {
  // expected-error @+1 {{gives 2 workload values, the count region of 'mul' takes 1}}
  %0 = flow.dispatch @e::@mul[%w, %w](%n, %a, %a) : (i32, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// All violations of one dispatch at once.
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'g' is declared here}}
  hal.executable.export @g layout(#hal.pipeline.layout<constants = 1, bindings = []>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%w: index) {
  // expected-error @+3 {{passes 0 tensor operands and 1 untied result, the layout of 'g' has 0 bindings}}
  // expected-error @+2 {{passes 0 scalars, the layout of 'g' has 1 constant}}
  // expected-error @+1 {{gives 1 workload value, the count region of 'g' takes 0}}
  %0 = flow.dispatch @e::@g[%w]() : () -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'words' is declared here}}
  hal.executable.export @words layout(#hal.pipeline.layout<constants = 2, bindings = [#rw]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%f: f32, %l: i64) {
  // expected-error @+1 {{argument 1 is 'i64', 8 bytes wide, constant 1 of 'words' is a 32-bit word: declare it by type, 'constants = [i64]', or convert the argument to i32}}
  %0 = flow.dispatch @e::@words(%f, %l) : (f32, i64) -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'words' is declared here}}
  hal.executable.export @words layout(#hal.pipeline.layout<constants = 2, bindings = [#rw]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%x: index, %h: f16) {
  // expected-error @+2 {{argument 0 is 'index', 8 bytes wide, constant 0 of 'words' is a 32-bit word}}
  // expected-error @+1 {{argument 1 is 'f16', 2 bytes wide, constant 1 of 'words' is a 32-bit word}}
  %0 = flow.dispatch @e::@words(%x, %h) : (index, f16) -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'typed' is declared here}}
  hal.executable.export @typed layout(#hal.pipeline.layout<constants = [i64, f32], bindings = [#rw]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%x: index, %f: f32, %i: i32) {
  // An index is 64 bits wide.
  %0 = flow.dispatch @e::@typed(%x, %f) : (index, f32) -> tensor<4xf32>
  // expected-error @+1 {{argument 1 is 'i32', constant 1 of 'typed' is declared 'f32': convert the argument, or declare the constant 'i32'}}
  %1 = flow.dispatch @e::@typed(%x, %i) : (index, i32) -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'g' is declared here}}
  hal.executable.export @g layout(#hal.pipeline.layout<bindings = [#ro, #rw, #ro]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{writes result 0 to binding 2 of 'g', which is ReadOnly: remove ReadOnly from the binding, or return another operand}}
  %0 = flow.dispatch @e::@g(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'g' is declared here}}
  hal.executable.export @g layout(#hal.pipeline.layout<bindings = [#ro, #rw, #ro]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{writes result 1 in place of argument 0 to binding 0 of 'g', which is ReadOnly}}
  %0:2 = flow.dispatch @e::@g(%a, %b, %b) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (%b, %a)
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @executable attributes {objects = #objects} {
  // expected-note @+1 {{'simple_mul' is declared here}}
  hal.executable.export @simple_mul layout(#hal.pipeline.layout<bindings = [#rw]>) attributes {workgroup_size = [64 : index]}
}
func.func @f() {
  // expected-error @+1 {{dispatches 'simple_mul', which has no count region: add count(%device: !hal.device, ...) -> (index, index, index) {..} to its declaration}}
  %0 = flow.dispatch @executable::@simple_mul() : () -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @executable attributes {objects = #objects} {
  hal.executable.export @simple_mul layout(#hal.pipeline.layout<bindings = [#rw]>) attributes {workgroup_size = [64 : index]}
}
func.func @f() {
  // expected-error @+1 {{names executable 'execuatble', which is not declared: did you mean 'executable'?}}
  %0 = flow.dispatch @execuatble::@simple_mul() : () -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
// expected-note @+1 {{'executable' is declared here}}
hal.executable.source private @executable attributes {objects = #objects} {
  hal.executable.export @simple_mul layout(#hal.pipeline.layout<bindings = [#rw]>) attributes {workgroup_size = [64 : index]}
}
func.func @f() {
  // expected-error @+1 {{names export 'simple_mull', which 'executable' does not have: did you mean 'simple_mul'?}}
  %0 = flow.dispatch @executable::@simple_mull() : () -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
// expected-note @+1 {{'executable' is declared here}}
hal.executable.source private @executable attributes {objects = #objects} {
  hal.executable.export @simple_mul layout(#hal.pipeline.layout<bindings = [#rw]>) attributes {workgroup_size = [64 : index]}
}
func.func @f() {
  // expected-error @+1 {{names export 'q', which 'executable' does not have, there is 'simple_mul'}}
  %0 = flow.dispatch @executable::@q() : () -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @executable attributes {objects = #objects} {
  hal.executable.export @simple_mul layout(#hal.pipeline.layout<bindings = [#rw]>) attributes {workgroup_size = [64 : index]}
}
func.func @f() {
  // expected-error @+1 {{names executable 'f', which is no executable, there is 'executable'}}
  %0 = flow.dispatch @f::@simple_mul() : () -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
hal.executable.source private @executable attributes {objects = #objects} {
  hal.executable.export @simple_mul layout(#hal.pipeline.layout<bindings = [#rw]>) attributes {workgroup_size = [64 : index]}
}
func.func @f() {
  // expected-error @+1 {{has entry point @executable::@sm_80::@simple_mul, 'executable' has no variants: write @executable::@export}}
  %0 = flow.dispatch @executable::@sm_80::@simple_mul() : () -> tensor<4xf32>
  return
}

// -----

#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
hal.executable private @e {
  hal.executable.variant @sm_80 target(#sm_80) objects([#hal.executable.object<{path = "a.ptx"}>]) {}
}
func.func @f() {
  // expected-error @+1 {{names variant 'sm_90', which 'e' does not have: did you mean 'sm_80'?}}
  %0 = flow.dispatch @e::@sm_90::@f() : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{has entry point @e, @executable::@export or @executable::@variant::@export is wanted}}
  %0 = flow.dispatch @e() : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: memref<4xf32>) {
  // expected-error @+1 {{argument 0 is 'memref<4xf32>', a tensor or scalar of i1, i8, i16, i32, i64, f16, bf16, f32, f64 is wanted}}
  %0 = flow.dispatch @e::@f(%a) : (memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{result 0 is 'i32', a tensor of i1, i8, i16, i32, i64, f16, bf16, f32, f64 is wanted}}
  %0 = flow.dispatch @e::@f() : () -> i32
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{has no result, so nothing could use what it writes: tie a result to the operand that it writes (-> %operand)}}
  flow.dispatch @e::@f(%a) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @f(%n: i32) {
  // expected-error @+1 {{result 0 is tied to argument 0, which is no tensor argument}}
  %0 = flow.dispatch @e::@f(%n) : (i32) -> %n as tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{result 1 is tied to argument 0, which another result is tied to already: a buffer holds one result}}
  %0:2 = flow.dispatch @e::@f(%a) : (tensor<4xf32>) -> (%a, %a)
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{result 0 is 'tensor<8xf32>', tied to an argument of type 'tensor<4xf32>': equal sizes are wanted, they share one buffer}}
  %0 = flow.dispatch @e::@f(%a) : (tensor<4xf32>) -> %a as tensor<8xf32>
  return
}

// -----

func.func @f(%a: tensor<?x4xf32>, %d: index) {
  // expected-error @+1 {{found 0 dynamic dimensions, 'tensor<?x4xf32>' wants 1: write one value in {} for each '?' of the type}}
  %0 = flow.dispatch @e::@f(%a) : (tensor<?x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%d: index) {
  // expected-error @+1 {{found 2 dynamic dimensions, 'tensor<?x4xf32>' wants 1}}
  %0 = flow.dispatch @e::@f() : () -> tensor<?x4xf32>{%d, %d}
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{found 0 argument types, the dispatch has 1 argument}}
  %0 = flow.dispatch @e::@f(%a) : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{result is tied to '%b', which is not an argument of the dispatch}}
  %0 = flow.dispatch @e::@f(%a) : (tensor<4xf32>) -> %b
  return
}

// -----

func.func @f(%d: index) {
  // expected-error @+1 {{has 1 and 0 dynamic dimensions of arguments and results, their types want 0 and 0}}
  %0 = "flow.dispatch"(%d) <{entry_points = [@e::@f], operandSegmentSizes = array<i32: 0, 0, 1, 0>}> : (index) -> tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{has no entry point, @executable::@export is wanted}}
  %0 = "flow.dispatch"() <{entry_points = [], operandSegmentSizes = array<i32: 0, 0, 0, 0>}> : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{has 2 ties for 1 result, one for each is wanted}}
  %0 = "flow.dispatch"(%a) <{entry_points = [@e::@f], operandSegmentSizes = array<i32: 0, 1, 0, 0>, tied_operands = array<i64: 0, 0>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Every dispatch that fails is reported, in every function.
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "a.ptx"}>]}>
hal.executable.source private @e attributes {objects = #objects} {
  // expected-note @+1 {{'g' is declared here}}
  hal.executable.export @g layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @first(%n: i32) {
  // expected-error @+1 {{passes 1 scalar, the layout of 'g' has 0 constants}}
  %0 = flow.dispatch @e::@g(%n) : (i32) -> tensor<4xf32>
  %1 = flow.dispatch @e::@g() : () -> tensor<4xf32>
  // expected-error @+1 {{passes 0 tensor operands and 2 untied results, the layout of 'g' has 1 binding}}
  %2:2 = flow.dispatch @e::@g() : () -> (tensor<4xf32>, tensor<4xf32>)
  return
}
func.func @second(%w: index) {
  // expected-error @+1 {{gives 1 workload value, the count region of 'g' takes 0}}
  %0 = flow.dispatch @e::@g[%w]() : () -> tensor<4xf32>
  return
}

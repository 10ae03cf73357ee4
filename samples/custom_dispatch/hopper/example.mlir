// A program that calls the kernel of matmul.cu where a device has Hopper's instructions, and a function elsewhere.
//
//   tenon-compile example.mlir --strict -o hopper.tenon
//   tenon-run hopper.tenon --function=run --input=2x16xbf16=1 --input=8x16xbf16=0.5

// sm_90a is code for compute capability 9.0 alone. sm_80 has no object: its code is generated, and runs as PTX on
// everything from 8.0 on, newer devices included.
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90a = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}>
#cuda = #hal.device.target<"cuda", [#sm_80, #sm_90a]> : !hal.device
#read = #hal.pipeline.binding<storage_buffer, ReadOnly, alignment = 16>
#write = #hal.pipeline.binding<storage_buffer, alignment = 16>

module @hopper attributes {hal.device.targets = [#cuda]} {
  hal.executable.source private @kernels <
    objects = #hal.executable.objects<{#sm_90a = [#hal.executable.object<{path = "matmul.cu"}>]}>
  > {
    // The same as the TENON_KERNEL in matmul.cu, or this does not compile (K-21). alignment = 128 is that of CUtensorMap
    // in the headers of CUDA 13; those of CUDA 12 have 64.
    hal.executable.export public @matmul ordinal(0)
        layout(#hal.pipeline.layout<constants = [
            !hal.tensor_map<binding = 0, 128x64xbf16, swizzle = B128, promotion = L2B128, alignment = 128>,
            !hal.tensor_map<binding = 1, 256x64xbf16, swizzle = B128, promotion = L2B128, alignment = 128>,
            !hal.tensor_map<binding = 2, 16x64xbf16, swizzle = B128, alignment = 128>,
            i32, i32, i32
          ], bindings = [#read, #read, #write]>)
        count(%device: !hal.device, %m: index, %n: index) -> (index, index, index) {
      // One block for each tile of 128 x 256, but no more than an H100 or H200 has multiprocessors: a block takes one
      // tile after the other. Any other number is right, too.
      %down = affine.apply affine_map<()[s0] -> (s0 ceildiv 128)>()[%m]
      %across = affine.apply affine_map<()[s0] -> (s0 ceildiv 256)>()[%n]
      %tiles = arith.muli %down, %across : index
      %blocks = affine.min affine_map<()[s0] -> (s0, 132)>()[%tiles]
      %c1 = arith.constant 1 : index
      hal.return %blocks, %c1, %c1 : index, index, index
    } <workgroup_size = [384 : index, 1 : index, 1 : index], workgroup_local_memory = 229440 : index>
      attributes {tenon.fallback = @matmul_in_mlir}
  }

  // What the kernel computes, of what a dispatch passes: scalars, then the tensors that are read. Nothing is passed for a
  // tensor map. tenon.dims says which argument holds the size of each dimension. It has to be one kernel, so products are
  // rounded to bf16 here, and only their sums are f32.
  func.func private @matmul_in_mlir(%m: i32, %n: i32, %k: i32, %left: tensor<?x?xbf16> {tenon.dims = array<i64: 0, 2>},
                                    %right: tensor<?x?xbf16> {tenon.dims = array<i64: 1, 2>}) -> tensor<?x?xbf16> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : bf16
    %rows = tensor.dim %left, %c0 : tensor<?x?xbf16>
    %columns = tensor.dim %right, %c0 : tensor<?x?xbf16>
    %empty = tensor.empty(%rows, %columns) : tensor<?x?xbf16>
    %start = linalg.fill ins(%zero : bf16) outs(%empty : tensor<?x?xbf16>) -> tensor<?x?xbf16>
    %0 = linalg.matmul
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%left, %right : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%start : tensor<?x?xbf16>) -> tensor<?x?xbf16>
    return %0 : tensor<?x?xbf16>
  }

  // left * right^T
  func.func @run(%left: tensor<?x?xbf16>, %right: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %left, %c0 : tensor<?x?xbf16>
    %n = tensor.dim %right, %c0 : tensor<?x?xbf16>
    %k = tensor.dim %left, %c1 : tensor<?x?xbf16>
    %m_i32 = arith.index_cast %m : index to i32
    %n_i32 = arith.index_cast %n : index to i32
    %k_i32 = arith.index_cast %k : index to i32
    %result = flow.dispatch @kernels::@matmul[%m, %n](%m_i32, %n_i32, %k_i32, %left, %right)
        : (i32, i32, i32, tensor<?x?xbf16>{%m, %k}, tensor<?x?xbf16>{%n, %k}) -> tensor<?x?xbf16>{%m, %n}
    return %result : tensor<?x?xbf16>
  }

  // The same by the compiler: what tenon-check-kernel compares the kernel with.
  func.func @product(%left: tensor<?x?xbf16>, %right: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %m = tensor.dim %left, %c0 : tensor<?x?xbf16>
    %n = tensor.dim %right, %c0 : tensor<?x?xbf16>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %sums = linalg.matmul
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%left, %right : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
    %rounded = arith.truncf %sums : tensor<?x?xf32> to tensor<?x?xbf16>
    return %rounded : tensor<?x?xbf16>
  }
}

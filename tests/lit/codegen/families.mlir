// Kernels that differ in numbers alone are made once, where there are many of them; with the same bytes on any number
// of threads and out of the cache, and with the results that each has alone.
// RUN: rm -rf %t && mkdir -p %t
// RUN: python3 %S/Inputs/row_sums.py 12 > %t/many.mlir
// RUN: tenon-compile %t/many.mlir --target=sm_75,sm_90a --images=ptx --cu-cache=%t/cache -o %t/cold.tenon --print-statistics 2>&1 | FileCheck %s
// RUN: tenon-compile %t/many.mlir --target=sm_75,sm_90a --images=ptx --cu-cache=%t/cache -o %t/warm.tenon --print-statistics 2>&1 | FileCheck %s --check-prefix=WARM
// RUN: cmp %t/cold.tenon %t/warm.tenon
// RUN: tenon-compile %t/many.mlir --target=sm_75,sm_90a --images=ptx --cu-cache=none --jobs=1 --dump-kernels-to=%t/kernels -o %t/none.tenon
// RUN: cmp %t/cold.tenon %t/none.tenon
// RUN: not grep -r __tenon_number %t/kernels
// RUN: tenon-run %t/cold.tenon --function=run0 --input=20x4096xf32=1 | FileCheck %s --check-prefix=FIRST
// RUN: tenon-run %t/cold.tenon --function=run11 --input=31x4140xf32=1 | FileCheck %s --check-prefix=LAST

// CHECK: PTX: 1 generated, 0 from the cache, 23 shared
// WARM: PTX: 0 generated, 24 from the cache, 0 shared
// FIRST: 20xf32=4096 4096 4096
// LAST: 31xf32=4151 4151 4151

// Fewer are made one by one.
// RUN: python3 %S/Inputs/row_sums.py 3 > %t/few.mlir
// RUN: tenon-compile %t/few.mlir --target=sm_75 --images=ptx --cu-cache=none -o %t/few.tenon --print-statistics 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: PTX: 3 generated, 0 from the cache, 0 shared

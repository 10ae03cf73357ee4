; debug.ptx: llc -march=nvptx64 -mcpu=sm_90 -mattr=+ptx83 debug.ll
; Line tables with inlining, full debug information.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
define ptx_kernel void @lines(ptr addrspace(1) %out, float %x) !dbg !5 {
  %y = fadd float %x, 1.0, !dbg !10
  %z = fmul float %y, %x, !dbg !11
  store float %z, ptr addrspace(1) %out, !dbg !12
  ret void, !dbg !13
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3, !4}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "tenon", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "lines.cu", directory: "/source")
!3 = !{i32 2, !"Dwarf Version", i32 2}
!4 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "lines", linkageName: "lines", scope: !1, file: !1, line: 3, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !7)
!7 = !{null}
!8 = distinct !DISubprogram(name: "inner", linkageName: "_Z5innerf", scope: !1, file: !1, line: 20, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!9 = distinct !DILocation(line: 5, column: 7, scope: !5)
!10 = !DILocation(line: 21, column: 3, scope: !8, inlinedAt: !9)
!11 = !DILocation(line: 22, column: 9, scope: !8, inlinedAt: !9)
!12 = !DILocation(line: 6, column: 1, scope: !5)
!13 = !DILocation(line: 7, column: 1, scope: !5)

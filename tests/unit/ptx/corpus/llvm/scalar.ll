; scalar.ptx: llc -march=nvptx64 -mcpu=sm_90 -mattr=+ptx83 scalar.ll
; Loops, switches with a jump table, select, intrinsics, inline assembly, attributes of a kernel.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.fma.f32(float, float, float)
declare {i32, i1} @llvm.nvvm.shfl.sync.down.i32p(i32, i32, i32, i32)
@tile = internal addrspace(3) global [64 x float] undef, align 16
@dynamic = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @loop(ptr addrspace(1) noalias readonly align 16 %in, ptr addrspace(1) %out, i32 %n, float %s, [2 x i64] %pair, i1 %flag, half %h, <2 x bfloat> %b) #0 {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %v = load <4 x float>, ptr addrspace(1) %in, align 16
  %x = extractelement <4 x float> %v, i32 1
  %p = getelementptr [64 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  store float %x, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %body, label %exit
body:
  %i = phi i32 [0, %entry], [%next, %latch]
  %acc = phi float [%s, %entry], [%sum2, %latch]
  switch i32 %i, label %other [i32 0, label %a
    i32 1, label %b1
    i32 2, label %c
    i32 3, label %a
    i32 4, label %c
    i32 5, label %b1]
a: br label %latch
b1: br label %latch
c:
  %q = fdiv float %acc, 3.0
  br label %latch
other:
  call void asm sideeffect "nanosleep.u32 20;", ""()
  br label %latch
latch:
  %w = phi float [1.0, %a], [2.5, %b1], [%q, %c], [%acc, %other]
  %sum2 = call float @llvm.fma.f32(float %w, float %acc, float 0x3FB99999A0000000)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %body, label %exit, !llvm.loop !0
exit:
  %r = phi float [0.0, %entry], [%sum2, %latch]
  %rb = bitcast float %r to i32
  %sh = call {i32, i1} @llvm.nvvm.shfl.sync.down.i32p(i32 -1, i32 %rb, i32 1, i32 31)
  %s0 = extractvalue {i32, i1} %sh, 0
  %s1 = extractvalue {i32, i1} %sh, 1
  %z = select i1 %s1, i32 %s0, i32 7
  %d = load i32, ptr addrspace(3) @dynamic
  %zz = add i32 %z, %d
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %zz, ptr addrspace(1) %o
  %old = atomicrmw fadd ptr addrspace(1) %out, float %r seq_cst
  ret void
}
define i32 @table(i32 %x) {
  switch i32 %x, label %done [
    i32 0, label %case0
    i32 1, label %case1
    i32 2, label %case2
    i32 3, label %case3
    i32 4, label %case4
    i32 5, label %case5
    i32 6, label %case6
    i32 7, label %case7
  ]
case0:
  call void asm sideeffect "nanosleep.u32 00;", ""()
  br label %done
case1:
  call void asm sideeffect "nanosleep.u32 10;", ""()
  br label %done
case2:
  call void asm sideeffect "nanosleep.u32 20;", ""()
  br label %done
case3:
  call void asm sideeffect "nanosleep.u32 30;", ""()
  br label %done
case4:
  call void asm sideeffect "nanosleep.u32 40;", ""()
  br label %done
case5:
  call void asm sideeffect "nanosleep.u32 50;", ""()
  br label %done
case6:
  call void asm sideeffect "nanosleep.u32 60;", ""()
  br label %done
case7:
  call void asm sideeffect "nanosleep.u32 70;", ""()
  br label %done
done:
  ret i32 %x
}
attributes #0 = { "nvvm.reqntid"="128,1,1" "nvvm.minctasm"="2" "nvvm.maxnreg"="64" "nvvm.cluster_dim"="2,1,1" }
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.disable"}

; calls.ptx: llc -march=nvptx64 -mcpu=sm_90 -mattr=+ptx83 calls.ll; calls_sm_52.ptx: -mcpu=sm_52 -mattr=+ptx71
; Direct and indirect calls, aggregates by value, recursion, a weak function, an alias, globals with relocations.
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
%Big = type { [5 x double], i32 }
@numbers = addrspace(1) global [2 x [3 x i32]] [[3 x i32] [i32 1, i32 -2, i32 3], [3 x i32] zeroinitializer]
@floats = addrspace(4) constant [2 x double] [double 1.5, double 0x7FF0000000000000]
@half = addrspace(1) global float 2.5
@text = private addrspace(1) constant [4 x i8] c"a\22\0A\00"
@pointers = addrspace(1) global [3 x ptr] [ptr addrspacecast (ptr addrspace(1) @half to ptr), ptr @double, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(1) @numbers to ptr), i64 8)]
@raw = addrspace(1) global <{i8, ptr addrspace(1), [7 x i8]}> <{i8 3, ptr addrspace(1) @numbers, [7 x i8] c"abcdefg"}>
@outside = external addrspace(1) global i32
declare i32 @vprintf(ptr, ptr)
declare void @__assertfail(ptr, ptr, i32, ptr, i64) noreturn
define i32 @double(i32 %x) noinline { %r = shl i32 %x, 1
  ret i32 %r }
define weak %Big @make(ptr byval(%Big) align 8 %b, i8 %n) noinline {
  %p = getelementptr %Big, ptr %b, i32 0, i32 0, i32 2
  %d = load double, ptr %p
  %r0 = insertvalue %Big undef, double %d, 0, 1
  %r1 = insertvalue %Big %r0, i32 4, 1
  ret %Big %r1 }
define internal i64 @factorial(i64 %n) noinline {
  %z = icmp ult i64 %n, 2
  br i1 %z, label %one, label %more
one: ret i64 1
more:
  %m = sub i64 %n, 1
  %f = call i64 @factorial(i64 %m)
  %r = mul i64 %f, %n
  ret i64 %r }
define ptx_kernel void @callAll(ptr %out, ptr %f, i64 %n) {
  %local = alloca %Big, align 8
  %a = load i32, ptr %out
  %b = call i32 %f(i32 %a)
  %c = call i32 @double(i32 %b)
  %big = call %Big @make(ptr byval(%Big) align 8 %local, i8 3)
  %e = extractvalue %Big %big, 1
  %g = call i64 @factorial(i64 %n)
  %t = trunc i64 %g to i32
  %s = add i32 %c, %e
  %s2 = add i32 %s, %t
  %o = load i32, ptr addrspace(1) @outside
  %s3 = add i32 %s2, %o
  store i32 %s3, ptr %out
  %q = call i32 @vprintf(ptr addrspacecast (ptr addrspace(1) @text to ptr), ptr %local)
  %bad = icmp eq i32 %q, 7
  br i1 %bad, label %fail, label %ok
fail:
  call void @__assertfail(ptr %out, ptr %out, i32 1, ptr %out, i64 1)
  unreachable
ok: ret void }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon/kernel.cuh: declares a kernel's ABI next to the kernel.
//
//   #include <tenon/kernel.cuh>
//
//   extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) { ... }
//   TENON_KERNEL(saxpy, TENON_WORKGROUP(128),
//                TENON_READ(const float *, x), TENON_WRITE(float *, y), TENON_CONSTANT(float, a), TENON_CONSTANT(int,
//                n));
//
// The compiler proves that the declaration says what the kernel's real parameters are, and puts it as a record into the
// object. tenon-link reads it there: `tenon-link kernels_sm_80.ptx kernels_sm_90.ptx -o kernels.tnx` needs nothing
// else, and a declaration elsewhere (MLIR, a manifest) must agree with it. The record is a few hundred bytes of module
// data that no code reads: it costs nothing when the kernel runs.
//
// Parameters, in the kernel's order, whatever that is; a name may be left out. A dispatch passes bindings and constants
// by number, each counted from 0 as they stand here:
//   TENON_READ(const T *, name)       a binding that the kernel does not write
//   TENON_WRITE(T *, name)            a binding that it writes, and may read
//   TENON_CONSTANT(T, name)           a scalar, a struct by value or a CUtensorMap
//   TENON_HIDDEN(T *, name)           a pointer that is passed as null (a compiler's scratch memory)
//   TENON_UNUSED(T, name)             a parameter that the kernel does not use: it is passed as zeros
//   TENON_STRUCT(T, name)             a struct by value with pointers in it; what no member names is passed as zeros:
//                                       TENON_STRUCT(Params, p).read(TENON_MEMBER(Params, x))
//                                           .write(TENON_MEMBER(Params, y)).constant(TENON_MEMBER(Params, n))
// TENON_CONSTANT(Params, p).read(TENON_MEMBER(Params, x)) is a struct whose bytes the dispatch passes as one constant;
// only the pointers that are named so become bindings. TENON_MEMBER(Params, inner.x) reaches into members;
// TENON_AT(const float *, 16) is a member by its offset in bytes.
// TENON_CONSTANT(CUtensorMap, map).encoded<float>(0, {8, 16}) is a tensor map that the runtime encodes from binding 0,
// of 8 rows of 16 floats (the order of the tensor's shape); behind it .swizzled(128), .interleaved(16), .promoted(256),
// .stridden({1, 2}), .filledWithNans(). The binding needs .aligned(16).
// `.aligned(16)` behind a binding asks for a base address that is a multiple of 16, as 16-byte accesses need; a pointer
// to float4 and the like asks for its own alignment by itself. A type with commas in it needs a name behind it.
//
// Launch, in any order; the workgroup must be there:
//   TENON_WORKGROUP(x, y, z)          threads of a workgroup (a block)
//   TENON_DYNAMIC_SHARED(bytes)       `extern __shared__` memory
//   TENON_CLUSTER(x, y, z)            workgroups of a cluster
//   TENON_SUBGROUP(32)                lanes of a warp that the kernel counts on
//   TENON_COOPERATIVE                 launched cooperatively (grid-wide barriers)
//   TENON_PROGRAMMATIC_LAUNCH         programmatic dependent launch
//   TENON_NAME("name")                the export's name where it is not the kernel's
//
// A kernel that is not extern "C" is found by its C++ name as long as one kernel of the object has it; templates and
// overloads need an extern "C" wrapper. C++17, nvcc and clang; specification: abi/kernel_abi.md, "Records".
#ifndef TENON_KERNEL_CUH
#define TENON_KERNEL_CUH

#if !defined(__CUDACC__) && !(defined(__clang__) && defined(__CUDA__))
#error "tenon/kernel.cuh is for CUDA sources: compile with nvcc, or with clang -x cuda"
#endif
#if __cplusplus < 201703L && !defined(_MSVC_LANG)
#error "tenon/kernel.cuh needs C++17: nvcc -std=c++17"
#endif

#include <cstddef>
#include <type_traits>
#include <utility>

// Types that Tenon knows by name; their headers need not be included.
struct __half;
struct __nv_bfloat16;
struct CUtensorMap_st;

/// Checks `kernel` against the declaration and records it. Stands after the kernel, in its namespace.
#define TENON_KERNEL(function, ...)                                                                                    \
  TENON_RECORD_(function, #function, __FILE__, __LINE__, __VA_ARGS__)                                                  \
  static_assert(::tenon::kernel::check<decltype(::tenon::kernel::listOf(__VA_ARGS__))>(&function),                     \
                "TENON_KERNEL(" #function ", ...) does not declare what the kernel is")

/// The same with the declaration that `tenon-link --header` wrote: include that header, define the kernel, then
/// TENON_IMPLEMENT(function);
#define TENON_IMPLEMENT(function)                                                                                      \
  TENON_RECORD_(function, #function, __FILE__, __LINE__, TENON_DECLARED_##function)                                    \
  static_assert(::tenon::kernel::Implementation<TENON_DECLARED_TYPE_##function,                                        \
                                                decltype(::tenon::kernel::listOf(                                      \
                                                    TENON_DECLARED_##function))>::isRight(&function, 0),               \
                "kernel '" #function "' does not take what its declaration says: " TENON_DECLARED_TEXT_##function)

#define TENON_READ(...) TENON_SLOT_(::tenon::kernel::SlotKind::Read, __VA_ARGS__)
#define TENON_WRITE(...) TENON_SLOT_(::tenon::kernel::SlotKind::Write, __VA_ARGS__)
#define TENON_CONSTANT(...) TENON_SLOT_(::tenon::kernel::SlotKind::Constant, __VA_ARGS__)
#define TENON_HIDDEN(...) TENON_SLOT_(::tenon::kernel::SlotKind::Hidden, __VA_ARGS__)
#define TENON_UNUSED(...) TENON_SLOT_(::tenon::kernel::SlotKind::Unused, __VA_ARGS__)
#define TENON_STRUCT(...) TENON_STRUCT_(__VA_ARGS__, )
#define TENON_MEMBER(type, ...)                                                                                        \
  (::tenon::kernel::Member<decltype(::std::declval<type &>().__VA_ARGS__)>{#__VA_ARGS__,                               \
                                                                           unsigned(offsetof(type, __VA_ARGS__)), 0})
#define TENON_AT(type, bytes) (::tenon::kernel::Member<type>{"", (bytes), 0})

#define TENON_WORKGROUP(...) (::tenon::kernel::Workgroup<__VA_ARGS__>{})
#define TENON_CLUSTER(...) (::tenon::kernel::Cluster<__VA_ARGS__>{})
#define TENON_DYNAMIC_SHARED(bytes) (::tenon::kernel::DynamicShared<(bytes)>{})
#define TENON_SUBGROUP(lanes) (::tenon::kernel::Subgroup<(lanes)>{})
#define TENON_COOPERATIVE (::tenon::kernel::Cooperative{})
#define TENON_PROGRAMMATIC_LAUNCH (::tenon::kernel::ProgrammaticLaunch{})
#define TENON_NAME(name) (::tenon::kernel::ExportName{name})

// A type, or a type and a name; of more parts the last is the name and the others are the type, which has commas:
// `TENON_READ(const Pair<int, float> *, x)`. The name keeps a comma behind it, "x,", or is empty.
#define TENON_SLOT_(kind, ...)                                                                                         \
  TENON_EIGHTH_(__VA_ARGS__, TENON_SLOT_7_, TENON_SLOT_6_, TENON_SLOT_5_, TENON_SLOT_4_, TENON_SLOT_3_, TENON_SLOT_2_, \
                TENON_SLOT_1_, )                                                                                       \
  (kind, __VA_ARGS__)
#define TENON_EIGHTH_(a, b, c, d, e, f, g, chosen, ...) chosen
#define TENON_SLOT_1_(kind, type) (::tenon::kernel::Slot<kind, type>{#type, "", 0})
#define TENON_SLOT_2_(kind, type, name) (::tenon::kernel::Slot<kind, type>{#type, #name ",", 0})
#define TENON_SLOT_3_(kind, a, b, name) TENON_NAMED_(kind, name, a, b)
#define TENON_SLOT_4_(kind, a, b, c, name) TENON_NAMED_(kind, name, a, b, c)
#define TENON_SLOT_5_(kind, a, b, c, d, name) TENON_NAMED_(kind, name, a, b, c, d)
#define TENON_SLOT_6_(kind, a, b, c, d, e, name) TENON_NAMED_(kind, name, a, b, c, d, e)
#define TENON_SLOT_7_(kind, a, b, c, d, e, f, name) TENON_NAMED_(kind, name, a, b, c, d, e, f)
#define TENON_NAMED_(kind, name, ...) (::tenon::kernel::Slot<kind, __VA_ARGS__>{#__VA_ARGS__, #name ",", 0})
#define TENON_STRUCT_(type, ...) (::tenon::kernel::StructSlot<false, type>{#type, #__VA_ARGS__, {}})

// Not static, so that the name stays as it is with -rdc=true; not const, so that clang keeps it out of the 64 KiB of
// constant memory.
#define TENON_RECORD_(function, name, file, line, ...)                                                                 \
  struct TenonRecord_##function {                                                                                      \
    static constexpr auto text() { return ::tenon::kernel::record(name, file, line, __VA_ARGS__); }                    \
  };                                                                                                                   \
  [[maybe_unused]] __device__ __attribute__((                                                                          \
      used)) ::tenon::kernel::Text<TenonRecord_##function::text().length + 1> __tenon_record_##function =              \
      ::tenon::kernel::exact<TenonRecord_##function::text().length + 1>(TenonRecord_##function::text());

namespace tenon {
/// What a declaration that knows no types stands on: `TENON_READ(const tenon::Any *)` takes any pointer to const.
struct Any;
/// `TENON_CONSTANT(tenon::Word)`: anything of 4 bytes.
struct Word;
/// `TENON_CONSTANT(tenon::Integer<8>)`: any integer of 8 bytes.
template <unsigned Size> struct Integer;
/// `TENON_CONSTANT(tenon::Bytes<12, 4>)`: any type of that size and alignment.
template <unsigned Size, unsigned Alignment> struct Bytes;

namespace kernel {

enum class SlotKind { Read, Write, Constant, Hidden, Unused };

/// How the runtime encodes a tensor map; rank 0: it does not.
struct MapEncoding {
  const char *element = nullptr;
  unsigned binding = 0, rank = 0, swizzle = 0, interleave = 0, promotion = 0;
  unsigned box[5] = {}, strides[5] = {};
  bool nans = false;
};

/// Name of a scalar type in a declaration; null: passed by value as it is.
template <class Type> constexpr const char *elementName();

/// A member of a struct: what it is called, and where it stands.
template <class Type> struct Member {
  const char *name;
  unsigned offset;
  unsigned alignment; // of the memory that it points to
  constexpr Member aligned(unsigned bytes) const { return {name, offset, bytes}; }
};

template <bool IsPassed, class Type, class... Slots> struct StructSlot;

template <SlotKind Kind, class Type> struct Slot {
  const char *type;
  const char *name;
  unsigned alignment;
  MapEncoding map = {};
  constexpr Slot aligned(unsigned bytes) const {
    static_assert(Kind == SlotKind::Read || Kind == SlotKind::Write, "aligned() is for TENON_READ and TENON_WRITE");
    return {type, name, bytes};
  }
  template <class Pointer> constexpr auto read(const Member<Pointer> &member) const { return asStruct().read(member); }
  template <class Pointer> constexpr auto write(const Member<Pointer> &member) const {
    return asStruct().write(member);
  }
  constexpr StructSlot<true, Type> asStruct() const {
    static_assert(Kind == SlotKind::Constant, "pointers stand in a TENON_CONSTANT or a TENON_STRUCT");
    return {type, name, {}};
  }
  template <class Element, unsigned Rank> constexpr Slot encoded(unsigned binding, const unsigned (&box)[Rank]) const {
    static_assert(std::is_same<std::remove_cv_t<Type>, CUtensorMap_st>::value, "encoded() is for a CUtensorMap");
    static_assert(Rank <= 5, "a tensor map has at most 5 dimensions");
    static_assert(elementName<Element>() != nullptr, "encoded<Element>: a scalar type is wanted");
    Slot out = *this;
    out.map.element = elementName<Element>();
    out.map.binding = binding;
    out.map.rank = Rank;
    for (unsigned i = 0; i < Rank; ++i)
      out.map.box[i] = box[i];
    return out;
  }
  template <unsigned Rank> constexpr Slot stridden(const unsigned (&strides)[Rank]) const {
    static_assert(Rank <= 5, "a tensor map has at most 5 dimensions");
    Slot out = *this;
    for (unsigned i = 0; i < Rank; ++i)
      out.map.strides[i] = strides[i];
    return out;
  }
  constexpr Slot swizzled(unsigned bytes) const {
    Slot out = *this;
    out.map.swizzle = bytes;
    return out;
  }
  constexpr Slot interleaved(unsigned bytes) const {
    Slot out = *this;
    out.map.interleave = bytes;
    return out;
  }
  constexpr Slot promoted(unsigned bytes) const {
    Slot out = *this;
    out.map.promotion = bytes;
    return out;
  }
  constexpr Slot filledWithNans() const {
    Slot out = *this;
    out.map.nans = true;
    return out;
  }
};

/// The members of a struct that are named, each with its offset.
template <class... Slots> struct Members {};
template <class First, class... Rest> struct Members<First, Rest...> {
  First slot;
  unsigned offset;
  Members<Rest...> rest;
};
template <class Last> constexpr Members<Last> append(const Members<> &, const Last &slot, unsigned offset) {
  return {slot, offset, {}};
}
template <class Last, class First, class... Rest>
constexpr Members<First, Rest..., Last> append(const Members<First, Rest...> &members, const Last &slot,
                                               unsigned offset) {
  return {members.slot, members.offset, append(members.rest, slot, offset)};
}

/// A struct by value with slots in it. IsPassed: a dispatch passes its other bytes; else they are zero.
template <bool IsPassed, class Type, class... Slots> struct StructSlot {
  const char *type;
  const char *name;
  Members<Slots...> members;

  template <class Pointer> constexpr auto read(const Member<Pointer> &member) const {
    return add<SlotKind::Read>(member);
  }
  template <class Pointer> constexpr auto write(const Member<Pointer> &member) const {
    return add<SlotKind::Write>(member);
  }
  template <class Value> constexpr auto constant(const Member<Value> &member) const {
    static_assert(!IsPassed, "the dispatch passes all bytes of a TENON_CONSTANT but its pointers: declare a "
                             "TENON_STRUCT for constants of their own");
    return add<SlotKind::Constant>(member);
  }

private:
  template <SlotKind Kind, class Value>
  constexpr StructSlot<IsPassed, Type, Slots..., Slot<Kind, Value>> add(const Member<Value> &member) const {
    return {type, name, append(members, Slot<Kind, Value>{"", member.name, member.alignment}, member.offset)};
  }
};

template <unsigned X, unsigned Y = 1, unsigned Z = 1> struct Workgroup {
  static_assert(X > 0 && Y > 0 && Z > 0, "TENON_WORKGROUP: every extent is at least 1");
  static_assert(X * Y * Z <= 1024 && Z <= 64, "TENON_WORKGROUP: at most 1024 threads, 64 of them along z (K-8)");
};
template <unsigned X, unsigned Y = 1, unsigned Z = 1> struct Cluster {
  static_assert(X > 0 && Y > 0 && Z > 0, "TENON_CLUSTER: every extent is at least 1");
};
template <unsigned Bytes> struct DynamicShared {};
template <unsigned Lanes> struct Subgroup {};
struct Cooperative {};
struct ProgrammaticLaunch {};
struct ExportName {
  const char *name;
};

template <class... Items> struct List {};
template <class... Items> List<Items...> listOf(Items...);

//===--- The proof that kernel and declaration are the same
//---------------------------------------------------------===//

template <class Item> struct IsSlot : std::false_type {};
template <SlotKind Kind, class Type> struct IsSlot<Slot<Kind, Type>> : std::true_type {};
template <bool IsPassed, class Type, class... Slots>
struct IsSlot<StructSlot<IsPassed, Type, Slots...>> : std::true_type {};
template <class Item> struct IsWorkgroup : std::false_type {};
template <unsigned X, unsigned Y, unsigned Z> struct IsWorkgroup<Workgroup<X, Y, Z>> : std::true_type {};

/// The type of a parameter as a function has it: without const and __restrict__ of its own.
template <class Type> struct Plain {
  using type = Type;
};
template <class Type> struct Plain<Type *__restrict__> {
  using type = Type *;
};
template <class Type> using ParameterType = typename Plain<std::remove_cv_t<Type>>::type;

template <class Declared, class Found> struct SameType : std::is_same<Declared, Found> {};
template <class Found> struct SameType<const Any *, Found *> : std::bool_constant<std::is_const<Found>::value> {};
template <class Found> struct SameType<Any *, Found *> : std::bool_constant<!std::is_const<Found>::value> {};
template <class Found> struct SameType<Word, Found> : std::bool_constant<sizeof(Found) == 4> {};
template <unsigned Size, class Found>
struct SameType<Integer<Size>, Found>
    : std::bool_constant<(std::is_integral<Found>::value || std::is_enum<Found>::value) && sizeof(Found) == Size> {};
template <unsigned Size, unsigned Alignment, class Found>
struct SameType<Bytes<Size, Alignment>, Found>
    : std::bool_constant<sizeof(Found) == Size && alignof(Found) == Alignment> {};

/// One parameter: number from 0, its type in the kernel, its type in the declaration. A compiler that reports a failed
/// assertion in here prints all three.
template <int Number, class TypeInKernel, class TypeDeclared> struct Parameter {
  static_assert(SameType<ParameterType<TypeDeclared>, TypeInKernel>::value,
                "this parameter has another type in the kernel than in its declaration: see Number, TypeInKernel and "
                "TypeDeclared of tenon::kernel::Parameter");
  static constexpr bool ok = SameType<ParameterType<TypeDeclared>, TypeInKernel>::value;
};

template <int InKernel, int Declared> struct ParameterCount {
  static_assert(InKernel == Declared, "the kernel has another number of parameters than its declaration: see InKernel "
                                      "and Declared of tenon::kernel::ParameterCount");
  static constexpr bool ok = InKernel == Declared;
};

template <class TypeDeclared> struct CheckSlot;
template <class Pointer> struct CheckSlot<Slot<SlotKind::Read, Pointer>> {
  static_assert(
      std::is_pointer<ParameterType<Pointer>>::value &&
          std::is_const<std::remove_pointer_t<ParameterType<Pointer>>>::value,
      "TENON_READ declares a binding that is not written: a pointer to const, as in TENON_READ(const float *)");
  static constexpr bool ok = true;
};
template <class Pointer> struct CheckSlot<Slot<SlotKind::Write, Pointer>> {
  static_assert(std::is_pointer<ParameterType<Pointer>>::value &&
                    !std::is_const<std::remove_pointer_t<ParameterType<Pointer>>>::value,
                "TENON_WRITE declares a binding that is written: a pointer that is not to const, as in "
                "TENON_WRITE(float *)");
  static constexpr bool ok = true;
};
template <class Pointer> struct CheckSlot<Slot<SlotKind::Hidden, Pointer>> {
  static_assert(std::is_pointer<ParameterType<Pointer>>::value,
                "TENON_HIDDEN declares a pointer that is passed as null");
  static constexpr bool ok = true;
};
template <class Type> struct CheckSlot<Slot<SlotKind::Unused, Type>> {
  static constexpr bool ok = true;
};
template <bool IsPassed, class Type, class... Slots> struct CheckSlot<StructSlot<IsPassed, Type, Slots...>> {
  static_assert(!std::is_scalar<Type>::value && !std::is_reference<Type>::value,
                "pointers stand within a struct that is passed by value");
  static_assert(IsPassed || sizeof...(Slots) != 0,
                "TENON_STRUCT has no members: name them with .read(), .write() and .constant(), or declare "
                "TENON_CONSTANT or TENON_UNUSED");
  static constexpr bool ok = (true & ... & CheckSlot<Slots>::ok);
};
template <class Type> struct CheckSlot<Slot<SlotKind::Constant, Type>> {
  static_assert(!std::is_pointer<Type>::value && !std::is_reference<Type>::value,
                "TENON_CONSTANT passes a value: declare a pointer with TENON_READ or TENON_WRITE");
  static constexpr bool ok = true;
};

template <class Slot> struct DeclaredType;
template <SlotKind Kind, class Type> struct DeclaredType<Slot<Kind, Type>> {
  using type = Type;
};
template <bool IsPassed, class Type, class... Slots> struct DeclaredType<StructSlot<IsPassed, Type, Slots...>> {
  using type = Type;
};

/// 0 bindings, 1 constants, 2 hidden pointers; -1 what has no place among these.
template <class Item> constexpr int rankOf(Item *) {
  return -1;
}
template <SlotKind Kind, class Type> constexpr int rankOf(Slot<Kind, Type> *) {
  return Kind == SlotKind::Constant ? 1 : Kind == SlotKind::Hidden ? 2 : Kind == SlotKind::Unused ? -1 : 0;
}
/// Whether the slots stand as K-3 has them where a layout says nothing.
template <class... Items> constexpr bool isUsualOrder() {
  int last = 0;
  bool usual = true;
  auto step = [&](bool isSlot, int rank) {
    if (!isSlot)
      return;
    usual = usual && rank >= last;
    last = rank;
  };
  (step(IsSlot<Items>::value, rankOf(static_cast<Items *>(nullptr))), ...);
  return usual;
}

template <class Kept, class... Items> struct SlotsOf {
  using type = Kept;
};
template <class... Kept, class Item, class... Rest>
struct SlotsOf<List<Kept...>, Item, Rest...>
    : std::conditional_t<IsSlot<Item>::value, SlotsOf<List<Kept..., Item>, Rest...>, SlotsOf<List<Kept...>, Rest...>> {
};

template <bool SameCount, int Number, class Parameters, class Slots> struct Compare {
  static constexpr bool ok = SameCount; // another count was reported; pairs would only repeat it, shifted
};
template <int Number, class First, class... Types, class Declared, class... Slots>
struct Compare<true, Number, List<First, Types...>, List<Declared, Slots...>> {
  static constexpr bool ok =
      (CheckSlot<Declared>::ok && Parameter<Number, First, typename DeclaredType<Declared>::type>::ok) &
      Compare<true, Number + 1, List<Types...>, List<Slots...>>::ok;
};

template <class Items> struct Check;
template <class... Items> struct Check<List<Items...>> {
  template <class... Types> static constexpr bool kernel(List<Types...>) {
    using Slots = typename SlotsOf<List<>, Items...>::type;
    constexpr int declared = (0 + ... + int(IsSlot<Items>::value));
    static_assert((0 + ... + int(IsWorkgroup<Items>::value)) == 1,
                  "a kernel's declaration has one TENON_WORKGROUP(x, y, z)");
    return ParameterCount<int(sizeof...(Types)), declared>::ok &
           Compare<int(sizeof...(Types)) == declared, 0, List<Types...>, Slots>::ok;
  }
};

template <class Items, class Result, class... Types> constexpr bool check(Result (*)(Types...)) {
  static_assert(std::is_void<Result>::value, "a kernel returns void");
  return Check<Items>::kernel(List<Types...>{});
}

/// A kernel against the declaration of a header. Where the header has a prototype (of type Declared), a definition with
/// other parameters is a second function of the name; then &kernel does not say which, and fits only the fallback.
template <class Declared, class Items> struct Implementation {
  template <class Kernel> static constexpr bool isRight(Kernel *kernel, int) { return check<Items>(kernel); }
  static constexpr bool isRight(Declared *, long) { return false; }
};

//===--- The record
//------------------------------------------------------------------------------------------------===//

/// Characters with a zero behind them; only the characters are in the object.
template <unsigned Size> struct Text {
  char characters[Size];
};

struct Writer {
  static constexpr unsigned kCapacity = 8192;
  char characters[kCapacity] = {};
  unsigned length = 0;

  constexpr void put(char c) { characters[length++] = c; } // past the end: the compiler says so
  constexpr void put(const char *text) {
    for (; *text; ++text)
      put(*text);
  }
  /// In quotes; up to the first comma for a name.
  constexpr void quoted(const char *text, char end = '\0') {
    put('"');
    for (; *text && *text != end; ++text) {
      if (*text == '"' || *text == '\\')
        put('\\');
      put(*text);
    }
    put('"');
  }
  constexpr void number(unsigned value) {
    char digits[10] = {};
    int count = 0;
    do
      digits[count++] = char('0' + value % 10);
    while (value /= 10);
    while (count)
      put(digits[--count]);
  }
  constexpr void separator(bool &first) {
    if (!first)
      put(',');
    first = false;
  }
};

template <class Type> constexpr const char *elementName() {
  if constexpr (std::is_enum<Type>::value)
    return elementName<std::underlying_type_t<Type>>();
  else if constexpr (std::is_same<Type, bool>::value)
    return "I1";
  else if constexpr (std::is_same<Type, __half>::value)
    return "F16";
  else if constexpr (std::is_same<Type, __nv_bfloat16>::value)
    return "BF16";
  else if constexpr (std::is_floating_point<Type>::value)
    return sizeof(Type) == 4 ? "F32" : "F64";
  else if constexpr (std::is_integral<Type>::value)
    return sizeof(Type) == 1 ? "I8" : sizeof(Type) == 2 ? "I16" : sizeof(Type) == 4 ? "I32" : "I64";
  else
    return nullptr;
}

/// What a pointer's base address must be a multiple of, as far as its type says it.
template <class Pointee> constexpr unsigned alignmentOf() {
  if constexpr (std::is_class<Pointee>::value && !std::is_same<std::remove_cv_t<Pointee>, Any>::value)
    return alignof(Pointee) >= 8 ? unsigned(alignof(Pointee)) : 0;
  else
    return 0;
}

constexpr void sizeAndAlignment(Writer &out, const char *kind, unsigned size, unsigned alignment) {
  out.put("\"kind\":\"");
  out.put(kind);
  out.put("\",\"size\":");
  out.number(size);
  out.put(",\"alignment\":");
  out.number(alignment);
}

/// Of a type that a header may only know by these.
template <class Type> struct Extent {
  static constexpr unsigned size = sizeof(Type), alignment = alignof(Type);
  static constexpr bool isCopyable = std::is_trivially_copyable<Type>::value;
};
template <unsigned Size, unsigned Alignment> struct Extent<Bytes<Size, Alignment>> {
  static constexpr unsigned size = Size, alignment = Alignment;
  static constexpr bool isCopyable = true;
};

template <class Type> struct ConstantWriter {
  static constexpr void write(Writer &out) {
    if constexpr (std::is_same<Type, CUtensorMap_st>::value) {
      sizeAndAlignment(out, "TensorMap", sizeof(Type), alignof(Type));
    } else if constexpr (elementName<Type>() != nullptr) {
      out.put("\"kind\":\"Scalar\",\"element\":");
      out.quoted(elementName<Type>());
    } else {
      static_assert(std::is_trivially_copyable<Type>::value,
                    "TENON_CONSTANT passes bytes: the type must be trivially copyable");
      sizeAndAlignment(out, "Struct", sizeof(Type), alignof(Type));
    }
  }
};
template <> struct ConstantWriter<Word> {
  static constexpr void write(Writer &out) { out.put("\"kind\":\"Word\""); }
};
template <unsigned Size> struct ConstantWriter<Integer<Size>> {
  static constexpr void write(Writer &out) {
    out.put("\"kind\":\"Scalar\",\"element\":\"I");
    out.number(Size * 8);
    out.put('"');
  }
};
template <unsigned Size, unsigned Alignment> struct ConstantWriter<Bytes<Size, Alignment>> {
  static constexpr void write(Writer &out) { sizeAndAlignment(out, "Struct", Size, Alignment); }
};

/// `,"name":"B128"`, for a number that is given.
constexpr void writeWidth(Writer &out, const char *name, const char *prefix, unsigned value) {
  if (value == 0)
    return;
  out.put(",\"");
  out.put(name);
  out.put("\":\"");
  out.put(prefix);
  out.number(value);
  out.put('"');
}

constexpr void writeNumbers(Writer &out, const char *name, const unsigned *values, unsigned count) {
  out.put(",\"");
  out.put(name);
  out.put("\":[");
  for (unsigned i = 0; i < count; ++i) {
    if (i)
      out.put(',');
    out.number(values[i]);
  }
  out.put(']');
}

/// The runtime's part of a tensor map; the linker says what of it cannot be.
constexpr void writeEncoding(Writer &out, const MapEncoding &map) {
  if (map.rank == 0)
    return;
  out.put(",\"element\":");
  out.quoted(map.element);
  out.put(",\"tensor_map\":{\"binding\":");
  out.number(map.binding);
  writeNumbers(out, "box", map.box, map.rank);
  if (map.strides[0] != 0)
    writeNumbers(out, "element_strides", map.strides, map.rank);
  writeWidth(out, "swizzle", "B", map.swizzle);
  writeWidth(out, "interleave", "B", map.interleave);
  writeWidth(out, "promotion", "L2B", map.promotion);
  if (map.nans)
    out.put(",\"fill\":\"Nans\"");
  out.put('}');
}

constexpr void writeName(Writer &out, bool &first, const char *name) {
  if (!*name || *name == ',')
    return;
  out.separator(first);
  out.put("\"name\":");
  out.quoted(name, ',');
}

template <class Visit> constexpr void forEachMember(const Members<> &, Visit) {}
template <class First, class... Rest, class Visit>
constexpr void forEachMember(const Members<First, Rest...> &members, Visit visit) {
  visit(members.slot, members.offset);
  forEachMember(members.rest, visit);
}

// Each writes what belongs into its list and nothing for other items.
template <class Item> constexpr void writeBinding(Writer &, bool &, const Item &) {}
template <SlotKind Kind, class Type>
constexpr void writeBinding(Writer &out, bool &first, const Slot<Kind, Type> &slot) {
  if constexpr (Kind == SlotKind::Read || Kind == SlotKind::Write) {
    out.separator(first);
    out.put('{');
    bool start = true;
    if (Kind == SlotKind::Read) {
      out.separator(start);
      out.put("\"read_only\":true");
    }
    const unsigned natural = alignmentOf<std::remove_pointer_t<ParameterType<Type>>>();
    if (const unsigned alignment = slot.alignment > natural ? slot.alignment : natural; alignment != 0) {
      out.separator(start);
      out.put("\"alignment\":");
      out.number(alignment);
    }
    writeName(out, start, slot.name);
    out.put('}');
  }
}

template <bool IsPassed, class Type, class... Slots>
constexpr void writeBinding(Writer &out, bool &first, const StructSlot<IsPassed, Type, Slots...> &slot) {
  forEachMember(slot.members, [&](const auto &member, unsigned) { writeBinding(out, first, member); });
}

template <class Item> constexpr void writeConstant(Writer &, bool &, const Item &) {}
template <SlotKind Kind, class Type>
constexpr void writeConstant(Writer &out, bool &first, const Slot<Kind, Type> &slot) {
  if constexpr (Kind == SlotKind::Constant) {
    out.separator(first);
    out.put('{');
    ConstantWriter<std::remove_cv_t<Type>>::write(out);
    writeEncoding(out, slot.map);
    bool start = false;
    writeName(out, start, slot.name);
    out.put('}');
  }
}

template <bool IsPassed, class Type, class... Slots>
constexpr void writeConstant(Writer &out, bool &first, const StructSlot<IsPassed, Type, Slots...> &slot) {
  if constexpr (IsPassed) {
    static_assert(Extent<Type>::isCopyable, "TENON_CONSTANT passes bytes: the type must be trivially copyable");
    out.separator(first);
    out.put('{');
    sizeAndAlignment(out, "Struct", Extent<Type>::size, Extent<Type>::alignment);
    bool start = false;
    writeName(out, start, slot.name);
    out.put('}');
  }
  forEachMember(slot.members, [&](const auto &member, unsigned) { writeConstant(out, first, member); });
}

template <class Item> constexpr bool isHidden(const Item &) {
  return false;
}
template <class Type> constexpr bool isHidden(const Slot<SlotKind::Hidden, Type> &) {
  return true;
}

/// Numbers of the bindings and constants so far.
struct Numbers {
  unsigned bindings = 0, constants = 0;
};

constexpr void writeExtent(Writer &out, unsigned size, unsigned alignment) {
  out.put("\"size\":");
  out.number(size);
  out.put(",\"alignment\":");
  out.number(alignment);
}

/// `"binding":0`, of a slot that is no struct.
template <SlotKind Kind, class Type> constexpr void writePlace(Writer &out, Numbers &next, const Slot<Kind, Type> &) {
  if constexpr (Kind == SlotKind::Hidden) {
    out.put("\"hidden\":true");
  } else if constexpr (Kind == SlotKind::Unused) {
    writeExtent(out, Extent<Type>::size, Extent<Type>::alignment);
  } else if constexpr (Kind == SlotKind::Constant) {
    out.put("\"constant\":");
    out.number(next.constants++);
  } else {
    out.put("\"binding\":");
    out.number(next.bindings++);
  }
}

/// One of `parameters`.
template <class Item> constexpr void writeParameter(Writer &, bool &, Numbers &, const Item &) {}
template <SlotKind Kind, class Type>
constexpr void writeParameter(Writer &out, bool &first, Numbers &next, const Slot<Kind, Type> &slot) {
  out.separator(first);
  out.put('{');
  writePlace(out, next, slot);
  out.put('}');
}
template <bool IsPassed, class Type, class... Slots>
constexpr void writeParameter(Writer &out, bool &first, Numbers &next,
                              const StructSlot<IsPassed, Type, Slots...> &slot) {
  out.separator(first);
  out.put('{');
  if constexpr (IsPassed) {
    out.put("\"constant\":");
    out.number(next.constants++);
  } else {
    writeExtent(out, Extent<Type>::size, Extent<Type>::alignment);
  }
  out.put(",\"members\":[");
  bool start = true;
  forEachMember(slot.members, [&](const auto &member, unsigned offset) {
    out.separator(start);
    out.put("{\"offset\":");
    out.number(offset);
    out.put(',');
    writePlace(out, next, member);
    out.put('}');
  });
  out.put("]}");
}

template <class Item> constexpr void writeType(Writer &, bool &, const Item &) {}
template <SlotKind Kind, class Type> constexpr void writeType(Writer &out, bool &first, const Slot<Kind, Type> &slot) {
  out.separator(first);
  out.quoted(slot.type);
}

template <bool IsPassed, class Type, class... Slots>
constexpr void writeType(Writer &out, bool &first, const StructSlot<IsPassed, Type, Slots...> &slot) {
  out.separator(first);
  out.quoted(slot.type);
}

template <class Item> constexpr void writeLaunch(Writer &, bool &, const Item &) {}
constexpr void writeExtents(Writer &out, bool &first, const char *member, unsigned x, unsigned y, unsigned z) {
  out.separator(first);
  out.put(member);
  out.number(x);
  out.put(',');
  out.number(y);
  out.put(',');
  out.number(z);
  out.put(']');
}
template <unsigned X, unsigned Y, unsigned Z>
constexpr void writeLaunch(Writer &out, bool &first, const Workgroup<X, Y, Z> &) {
  writeExtents(out, first, "\"workgroup_size\":[", X, Y, Z);
}
template <unsigned X, unsigned Y, unsigned Z>
constexpr void writeLaunch(Writer &out, bool &first, const Cluster<X, Y, Z> &) {
  writeExtents(out, first, "\"cluster\":[", X, Y, Z);
}
template <unsigned Bytes> constexpr void writeLaunch(Writer &out, bool &first, const DynamicShared<Bytes> &) {
  out.separator(first);
  out.put("\"dynamic_shared_bytes\":");
  out.number(Bytes);
}
template <unsigned Lanes> constexpr void writeLaunch(Writer &out, bool &first, const Subgroup<Lanes> &) {
  out.separator(first);
  out.put("\"subgroup_size\":");
  out.number(Lanes);
}
constexpr void writeLaunch(Writer &out, bool &first, const Cooperative &) {
  out.separator(first);
  out.put("\"cooperative\":true");
}
constexpr void writeLaunch(Writer &out, bool &first, const ProgrammaticLaunch &) {
  out.separator(first);
  out.put("\"programmatic_dependent_launch\":true");
}

template <class Item> constexpr void takeName(const char *&, const Item &) {}
constexpr void takeName(const char *&name, const ExportName &item) {
  name = item.name;
}

/// Folders stay out: an object is the same wherever it was compiled.
constexpr const char *baseName(const char *path) {
  const char *name = path;
  for (; *path; ++path)
    if (*path == '/' || *path == '\\')
      name = path + 1;
  return name;
}

/// The text of a record, format 1: "tenon-kernel 1\n", then an export of the manifest's schema as JSON.
template <class... Items>
constexpr Writer record(const char *kernel, const char *file, unsigned line, const Items &...items) {
  Writer out;
  const char *name = kernel;
  (takeName(name, items), ...);
  out.put("tenon-kernel 1\n{\"name\":");
  out.quoted(name);
  out.put(",\"symbol\":");
  out.quoted(kernel);
  bool first = true;
  out.put(",\"launch\":{");
  (writeLaunch(out, first, items), ...);
  out.put("},\"layout\":{\"bindings\":[");
  first = true;
  (writeBinding(out, first, items), ...);
  out.put("],\"constants\":[");
  first = true;
  (writeConstant(out, first, items), ...);
  constexpr bool usual = isUsualOrder<Items...>();
  out.put("],\"hidden_pointers\":");
  out.number(usual ? (0u + ... + unsigned(isHidden(items))) : 0);
  if constexpr (!usual) {
    out.put(",\"parameters\":[");
    first = true;
    Numbers next;
    (writeParameter(out, first, next, items), ...);
    out.put(']');
  }
  out.put("},\"signature\":[");
  first = true;
  (writeType(out, first, items), ...);
  out.put("],\"declared_at\":\"");
  out.put(baseName(file));
  out.put(':');
  out.number(line);
  out.put("\"}");
  return out;
}

template <unsigned Size> constexpr Text<Size> exact(const Writer &written) {
  Text<Size> text = {};
  for (unsigned i = 0; i < Size; ++i)
    text.characters[i] = written.characters[i];
  return text;
}

} // namespace kernel
} // namespace tenon

#endif // TENON_KERNEL_CUH

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API of the runtime (tenon/runtime.h) for C++20: handles that release themselves, std::span for pointer and
// count, std::optional and std::string for what may be missing, and errors as exceptions:
//
//   auto device = tenon::Device::open();
//   auto kernels = device.openExecutable("kernels.tnx");
//   auto x = device.upload<float>(values);
//   kernels.launch("scale", {blocks, 1, 1}, {x, x}, {tenon::word(2.5f), tenon::word(n)});
//   std::vector<float> out = x.download<float>();
//
// Where exceptions are not wanted, define TENON_NO_EXCEPTIONS before the include: every function that can fail then
// returns a tenon::Expected, which is std::expected where the library has it (C++23), else one with the part of its
// interface that is used here. `tenon::Error` is the same in both.
//
// Header only: it needs libtenon_runtime.so and nothing else. Objects may be moved, and copied where the handle is
// counted (Buffer). What one of them was made from need not outlive it.
#ifndef TENON_RUNTIME_HPP
#define TENON_RUNTIME_HPP

#include "tenon/runtime.h"

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#ifdef TENON_NO_EXCEPTIONS
#if __has_include(<expected>)
#include <expected>
#endif
#else
#include <stdexcept>
#endif

namespace tenon {

// Files of both kinds may be linked together: their classes have names of their own.
#ifdef TENON_NO_EXCEPTIONS
inline namespace with_expected {
#else
inline namespace with_exceptions {
#endif

#ifdef TENON_NO_EXCEPTIONS
/// What went wrong: the code, and the library's text.
class Error {
public:
  Error(tenon_status_code_t code, std::string message) : code_(code), message_(std::move(message)) {}
  const char *what() const noexcept { return message_.c_str(); }

#else
/// What went wrong: the code, and the library's text (what()).
class Error : public std::runtime_error {
public:
  Error(tenon_status_code_t code, const std::string &message) : std::runtime_error(message), code_(code) {}

#endif
  tenon_status_code_t code() const noexcept { return code_; }
  /// "invalid argument"
  const char *codeName() const noexcept { return tenon_status_code_name(code_); }
  /// Takes over a status that is not NULL.
  static Error take(tenon_status_t *status) {
    Error error(tenon_status_code(status), tenon_status_message(status));
    tenon_status_release(status);
    return error;
  }

private:
  tenon_status_code_t code_;
#ifdef TENON_NO_EXCEPTIONS
  std::string message_;
#endif
};

#ifdef TENON_NO_EXCEPTIONS
#if defined(__cpp_lib_expected)
template <typename T> using Expected = std::expected<T, Error>;
#else
/// A value or an error, with the part of std::expected's interface that does not throw.
template <typename T> class Expected {
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

public:
  Expected()
    requires std::is_void_v<T>
  = default;
  Expected(Value value)
    requires(!std::is_void_v<T>)
      : content_(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return content_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  /// Only where there is one.
  Value &operator*() { return *std::get_if<0>(&content_); }
  Value *operator->() { return std::get_if<0>(&content_); }
  const Error &error() const { return *std::get_if<1>(&content_); }

private:
  std::variant<Value, Error> content_;
};
#endif
#else
/// What a function that can fail returns: here it throws.
template <typename T> using Expected = T;
#endif

namespace detail {

#ifdef TENON_NO_EXCEPTIONS
template <typename T> Expected<T> fail(Error error) {
#if defined(__cpp_lib_expected)
  return std::unexpected(std::move(error));
#else
  return error;
#endif
}
#else
template <typename T> [[noreturn]] Expected<T> fail(Error error) {
  throw error;
}
#endif

/// `make()` where the status is NULL, else its error.
template <typename T, typename Make> Expected<T> finish(tenon_status_t *status, Make make) {
  if (status)
    return fail<T>(Error::take(status));
  return make();
}
inline Expected<void> finish(tenon_status_t *status) {
  if (status)
    return fail<void>(Error::take(status));
  return Expected<void>();
}

template <auto Release> struct Releaser {
  template <typename Handle> void operator()(Handle *handle) const { Release(handle); }
};
template <typename Handle, auto Release> using Owned = std::unique_ptr<Handle, Releaser<Release>>;

template <typename Struct> Struct sized() {
  Struct made = {};
  made.struct_size = sizeof(made);
  return made;
}

template <typename T> constexpr tenon_element_type_t elementOf() {
  static_assert(std::is_arithmetic_v<T>);
  if constexpr (std::is_same_v<T, bool>)
    return TENON_I1;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? TENON_F32 : TENON_F64;
  else
    return static_cast<tenon_element_type_t>(TENON_I8 + std::countr_zero(sizeof(T)));
}

} // namespace detail

/// A scalar as the 64-bit word that a launch passes.
template <typename T> uint64_t word(T value) {
  static_assert(std::is_arithmetic_v<T>);
  if constexpr (std::is_same_v<T, float>)
    return tenon_word_f32(value);
  else if constexpr (std::is_floating_point_v<T>)
    return tenon_word_f64(value);
  else
    return static_cast<uint64_t>(static_cast<int64_t>(value));
}

/// Memory that a device can reach; a copy is another reference to the same memory.
class Buffer {
public:
  explicit Buffer(tenon_buffer_t *owned) : handle_(owned) {}
  Buffer(Buffer &&) noexcept = default;
  Buffer &operator=(Buffer &&) noexcept = default;
  Buffer(const Buffer &other) { *this = other; }
  Buffer &operator=(const Buffer &other) {
    tenon_buffer_t *again = nullptr;
    if (other.handle_ && this != &other)
      tenon_status_release(tenon_buffer_retain(other.get(), &again)); // fails for NULL only
    if (this != &other)
      handle_.reset(again);
    return *this;
  }

  tenon_buffer_t *get() const { return handle_.get(); }
  uint64_t bytes() const { return tenon_buffer_size(get()); }
  uint64_t address() const { return tenon_buffer_address(get()); }

  template <typename T> Expected<void> write(std::span<const T> values, uint64_t offset = 0) {
    return detail::finish(tenon_buffer_write(get(), offset, values.data(), values.size_bytes()));
  }
  template <typename T> Expected<void> read(std::span<T> values, uint64_t offset = 0) const {
    return detail::finish(tenon_buffer_read(get(), offset, values.data(), values.size_bytes()));
  }
  /// All of it, once the device's own stream has come so far.
  template <typename T> Expected<std::vector<T>> download() const {
    std::vector<T> values(bytes() / sizeof(T));
    return detail::finish<std::vector<T>>(tenon_buffer_read(get(), 0, values.data(), values.size() * sizeof(T)),
                                          [&] { return std::move(values); });
  }
  /// Host-visible memory as the host sees it; valid as long as the buffer.
  template <typename T> Expected<std::span<T>> map(uint32_t access = TENON_ACCESS_READ | TENON_ACCESS_WRITE) {
    void *host = nullptr;
    return detail::finish<std::span<T>>(tenon_buffer_map(get(), 0, TENON_WHOLE_BUFFER, access, &host),
                                        [&] { return std::span<T>(static_cast<T *>(host), bytes() / sizeof(T)); });
  }

private:
  detail::Owned<tenon_buffer_t, tenon_buffer_release> handle_;
};

/// A tensor or a scalar that goes into a call or came out of one.
class Value {
public:
  /// A dense row-major tensor from the start of `buffer`.
  Value(Buffer buffer, tenon_element_type_t element, std::vector<int64_t> shape)
      : element_(element), buffer_(std::move(buffer)), shape_(std::move(shape)) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  Value(T scalar) : element_(detail::elementOf<T>()), bits_(static_cast<int64_t>(word(scalar))) {
    if constexpr (std::is_same_v<T, bool>)
      bits_ = tenon_value_i1(scalar).scalar_bits;
  }
  /// Any scalar by its bits: integers sign-extended, floats their own.
  static Value ofBits(tenon_element_type_t element, int64_t bits) {
    Value value(bits);
    value.element_ = element;
    return value;
  }

  bool isTensor() const { return buffer_.has_value(); }
  tenon_element_type_t element() const { return element_; }
  std::span<const int64_t> shape() const { return shape_; }
  /// Of a tensor.
  const Buffer &buffer() const { return *buffer_; }
  /// Of a scalar.
  int64_t bits() const { return bits_; }
  tenon_value_t raw() const {
    return buffer_ ? tenon_value_tensor(buffer_->get(), element_, shape_.data(), shape_.size())
                   : tenon_value_of(element_, bits_);
  }

private:
  tenon_element_type_t element_;
  std::optional<Buffer> buffer_;
  std::vector<int64_t> shape_;
  int64_t bits_ = 0;
};

/// Kernels: a .tnx file on a device.
class Executable {
public:
  explicit Executable(tenon_executable_t *owned) : handle_(owned) {}
  tenon_executable_t *get() const { return handle_.get(); }

  size_t exportCount() const { return tenon_executable_export_count(get()); }
  Expected<tenon_export_info_t> exportInfo(uint32_t ordinal) const {
    auto info = detail::sized<tenon_export_info_t>();
    return detail::finish<tenon_export_info_t>(tenon_executable_export_info(get(), ordinal, &info),
                                               [&] { return info; });
  }
  /// Launches and returns; `stream` nullptr: the device's own (tenon_executable_launch).
  Expected<void> launch(const char *name, std::array<uint32_t, 3> grid, std::span<const Buffer> buffers,
                        std::span<const uint64_t> words = {}, void *stream = nullptr) {
    std::vector<tenon_buffer_t *> handles;
    handles.reserve(buffers.size());
    for (const Buffer &buffer : buffers)
      handles.push_back(buffer.get());
    return detail::finish(tenon_executable_launch(get(), name, grid.data(), handles.data(), handles.size(),
                                                  words.data(), words.size(), stream));
  }
  Expected<void> launch(const char *name, std::array<uint32_t, 3> grid, std::initializer_list<Buffer> buffers,
                        std::initializer_list<uint64_t> words = {}, void *stream = nullptr) {
    return launch(name, grid, std::span(buffers.begin(), buffers.size()), std::span(words.begin(), words.size()),
                  stream);
  }
  /// What `tenon-run --explain` prints.
  Expected<std::string> explain() {
    std::string text;
    return detail::finish<std::string>(tenon_executable_explain(get(), &append, &text), [&] { return text; });
  }

private:
  static void append(void *user, const char *text) { *static_cast<std::string *>(user) += text; }
  detail::Owned<tenon_executable_t, tenon_executable_release> handle_;
};

/// A .tenon file on a device.
class Program {
public:
  explicit Program(tenon_program_t *owned) : handle_(owned) {}
  tenon_program_t *get() const { return handle_.get(); }

  size_t functionCount() const { return tenon_program_function_count(get()); }
  Expected<tenon_function_info_t> functionInfo(uint32_t function) const {
    auto info = detail::sized<tenon_function_info_t>();
    return detail::finish<tenon_function_info_t>(tenon_program_function_info(get(), function, &info),
                                                 [&] { return info; });
  }
  Expected<tenon_type_info_t> inputInfo(uint32_t function, size_t input) const {
    auto info = detail::sized<tenon_type_info_t>();
    return detail::finish<tenon_type_info_t>(tenon_program_input_info(get(), function, input, &info),
                                             [&] { return info; });
  }
  Expected<tenon_type_info_t> resultInfo(uint32_t function, size_t result) const {
    auto info = detail::sized<tenon_type_info_t>();
    return detail::finish<tenon_type_info_t>(tenon_program_result_info(get(), function, result, &info),
                                             [&] { return info; });
  }
  /// Calls a function by its name, "" where there is only one, and waits for it.
  Expected<std::vector<Value>> call(const char *name, std::span<const Value> inputs) {
    std::vector<tenon_value_t> raw;
    raw.reserve(inputs.size());
    for (const Value &input : inputs)
      raw.push_back(input.raw());
    uint32_t function = 0;
    if (tenon_status_t *status = tenon_program_find_function(get(), name, &function))
      return detail::fail<std::vector<Value>>(Error::take(status));
    tenon_results_t *made = nullptr;
    if (tenon_status_t *status = tenon_program_call(get(), function, raw.data(), raw.size(), &made))
      return detail::fail<std::vector<Value>>(Error::take(status));
    const detail::Owned<tenon_results_t, tenon_results_release> results(made);
    std::vector<Value> out;
    out.reserve(tenon_results_count(made));
    for (size_t i = 0; i < tenon_results_count(made); ++i) {
      auto value = detail::sized<tenon_value_t>();
      if (tenon_status_t *status = tenon_results_value(made, i, &value))
        return detail::fail<std::vector<Value>>(Error::take(status));
      if (value.buffer)
        out.emplace_back(Buffer(value.buffer), value.element,
                         std::vector<int64_t>(value.shape, value.shape + value.rank));
      else
        out.push_back(Value::ofBits(value.element, value.scalar_bits));
    }
    return out;
  }
  Expected<std::vector<Value>> call(const char *name, std::initializer_list<Value> inputs) {
    return call(name, std::span(inputs.begin(), inputs.size()));
  }
  /// What `tenon-run --explain` prints.
  Expected<std::string> explain() {
    std::string text;
    return detail::finish<std::string>(tenon_program_explain(get(), &append, &text), [&] { return text; });
  }

private:
  static void append(void *user, const char *text) { *static_cast<std::string *>(user) += text; }
  detail::Owned<tenon_program_t, tenon_program_release> handle_;
};

/// A device that is open.
class Device {
public:
  explicit Device(tenon_device_t *owned) : handle_(owned) {}
  /// "" (a GPU if there is one, else the emulator), "cuda", "emulator".
  static Expected<Device> open(const char *name = "") {
    tenon_device_t *made = nullptr;
    return detail::finish<Device>(tenon_device_open_default(name, &made), [&] { return Device(made); });
  }
  tenon_device_t *get() const { return handle_.get(); }

  Expected<tenon_device_info_t> info() const {
    auto info = detail::sized<tenon_device_info_t>();
    return detail::finish<tenon_device_info_t>(tenon_device_info(get(), &info), [&] { return info; });
  }
  /// Memory with undefined contents.
  Expected<Buffer> allocate(uint64_t bytes, tenon_memory_t memory = TENON_DEVICE_LOCAL) {
    return create(nullptr, bytes, memory);
  }
  template <typename T> Expected<Buffer> upload(std::span<const T> values, tenon_memory_t memory = TENON_DEVICE_LOCAL) {
    return create(values.data(), values.size_bytes(), memory);
  }
  /// Memory of somebody else that outlives the buffer.
  Expected<Buffer> import(uint64_t address, uint64_t bytes) {
    tenon_buffer_t *made = nullptr;
    return detail::finish<Buffer>(tenon_buffer_import_device(get(), address, bytes, nullptr, nullptr, nullptr, &made),
                                  [&] { return Buffer(made); });
  }
  Expected<Executable> openExecutable(const char *path) {
    tenon_executable_t *made = nullptr;
    return detail::finish<Executable>(tenon_executable_open(get(), path, &made), [&] { return Executable(made); });
  }
  Expected<Executable> createExecutable(std::span<const std::byte> bytes, const char *name = "executable") {
    tenon_executable_t *made = nullptr;
    return detail::finish<Executable>(tenon_executable_create(get(), bytes.data(), bytes.size(), name, &made),
                                      [&] { return Executable(made); });
  }
  Expected<Program> openProgram(const char *path) {
    tenon_program_t *made = nullptr;
    return detail::finish<Program>(tenon_program_open(get(), path, &made), [&] { return Program(made); });
  }
  Expected<Program> createProgram(std::span<const std::byte> bytes, const char *name = "program") {
    tenon_program_t *made = nullptr;
    return detail::finish<Program>(tenon_program_create(get(), bytes.data(), bytes.size(), name, &made),
                                   [&] { return Program(made); });
  }
  /// Waits for the device's own stream.
  Expected<void> wait() { return detail::finish(tenon_device_wait(get())); }

private:
  Expected<Buffer> create(const void *data, uint64_t bytes, tenon_memory_t memory) {
    auto options = detail::sized<tenon_buffer_options_t>();
    options.memory = memory;
    tenon_buffer_t *made = nullptr;
    return detail::finish<Buffer>(tenon_buffer_create(get(), data, bytes, &options, &made),
                                  [&] { return Buffer(made); });
  }
  detail::Owned<tenon_device_t, tenon_device_release> handle_;
};

} // inline namespace
} // namespace tenon
#endif // TENON_RUNTIME_HPP

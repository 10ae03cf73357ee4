// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/plain_manifest.h"

#include <array>
#include <charconv>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;
using flatbuffers::Offset;

template <typename T> using Maybe = std::optional<T>;

/// Characters that stand for themselves in a string, wherever JSON is read.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain = {};
  for (unsigned c = 0x20; c < 0x7f; ++c)
    plain[c] = c != '"' && c != '\\';
  return plain;
}();

/// Values of JSON from a cursor on. What is not plain makes all further reading fail.
class Reader {
public:
  explicit Reader(std::string_view text)
      : builder_(text.size() + 1024), begin_(text.data()), next_(begin_), end_(begin_ + text.size()) {
    builder_.ForceDefaults(true);
  }

  std::optional<PlainManifest> run() {
    const Offset<fb::Manifest> root = manifest();
    skipBlanks();
    if (failed_ || next_ != end_)
      return {};
    builder_.Finish(root);
    out_.buffer = builder_.Release();
    return std::move(out_);
  }

private:
  // --------------------------------------------------------------------------------------------------------- values

  void fail() { failed_ = true; }

  void skipBlanks() {
    while (next_ != end_ && (*next_ == ' ' || *next_ == '\n' || *next_ == '\t' || *next_ == '\r'))
      ++next_;
  }
  bool accept(char c) {
    skipBlanks();
    if (failed_ || next_ == end_ || *next_ != c)
      return false;
    ++next_;
    return true;
  }
  void expect(char c) { failed_ |= !accept(c); }

  std::string_view text() {
    expect('"');
    const char *begin = next_;
    while (next_ != end_ && kPlain[static_cast<unsigned char>(*next_)])
      ++next_;
    if (failed_ || next_ == end_ || *next_ != '"') {
      fail();
      return {};
    }
    return {begin, static_cast<size_t>(next_++ - begin)};
  }

  Offset<flatbuffers::String> string() {
    const std::string_view value = text();
    return builder_.CreateString(value.data(), value.size());
  }

  uint32_t number() {
    skipBlanks();
    uint32_t value = 0;
    auto [stop, error] = std::from_chars(next_, end_, value);
    if (error != std::errc() || (stop != end_ && (*stop == '.' || *stop == 'e' || *stop == 'E' || *stop == 'x')))
      fail();
    next_ = stop;
    return value;
  }

  bool boolean() {
    skipBlanks();
    for (std::string_view word : {"true", "false"})
      if (std::string_view(next_, static_cast<size_t>(end_ - next_)).starts_with(word)) {
        next_ += word.size();
        return word == "true";
      }
    fail();
    return false;
  }

  /// An enumerator by name; `names` ends with null.
  template <typename Enum> Enum enumerator(const char *const *names) {
    const std::string_view wanted = text();
    for (int i = 0; names[i]; ++i)
      if (wanted == names[i])
        return static_cast<Enum>(i);
    fail();
    return {};
  }

  /// Calls read() for each element.
  template <typename Read> void array(Read read) {
    expect('[');
    if (accept(']'))
      return;
    do
      read();
    while (!failed_ && accept(','));
    expect(']');
  }

  Offset<flatbuffers::Vector<uint32_t>> numbers() {
    const size_t first = scratch_.size();
    array([&] { scratch_.push_back(number()); });
    const Offset<flatbuffers::Vector<uint32_t>> made =
        builder_.CreateVector(scratch_.data() + first, scratch_.size() - first);
    scratch_.resize(first);
    return made;
  }

  template <typename T, typename Read> Offset<flatbuffers::Vector<Offset<T>>> tables(Read read) {
    const size_t first = scratch_.size();
    array([&] {
      const Offset<T> element = read();
      scratch_.push_back(element.o);
    });
    if (failed_) // an element may be null, which a vector does not take
      return 0;
    static_assert(sizeof(Offset<T>) == sizeof(uint32_t));
    const auto *elements = reinterpret_cast<const Offset<T> *>(scratch_.data() + first);
    const Offset<flatbuffers::Vector<Offset<T>>> made = builder_.CreateVector(elements, scratch_.size() - first);
    scratch_.resize(first);
    return made;
  }

  /// The same, and where each element begins.
  template <typename T, typename Read>
  Offset<flatbuffers::Vector<Offset<T>>> tablesAt(std::vector<size_t> &places, Read read) {
    return tables<T>([&] {
      skipBlanks();
      places.push_back(static_cast<size_t>(next_ - begin_));
      return read();
    });
  }

  /// Calls member(key) for each member, which reads its value or fails.
  template <typename Member> void object(Member member) {
    expect('{');
    if (accept('}'))
      return;
    do {
      const std::string_view key = text();
      expect(':');
      if (!failed_)
        member(key);
    } while (!failed_ && accept(','));
    expect('}');
  }

  /// A field may be there once.
  template <typename T> void set(Maybe<T> &field, T value) {
    if (field)
      fail();
    field = value;
  }

  /// Adds a field to a table where it was given.
  template <typename Table, typename Field, typename T>
  static void put(Table &table, void (Table::*add)(Field), const Maybe<T> &value) {
    if (value)
      (table.*add)(static_cast<Field>(*value));
  }

  // --------------------------------------------------------------------------------------------------------- tables

  Offset<fb::Binding> binding() {
    Maybe<fb::BindingKind> kind;
    Maybe<bool> readOnly, indirect;
    Maybe<uint32_t> alignment;
    Maybe<Offset<flatbuffers::String>> name;
    object([&](std::string_view key) {
      if (key == "kind")
        set(kind, enumerator<fb::BindingKind>(fb::EnumNamesBindingKind()));
      else if (key == "read_only")
        set(readOnly, boolean());
      else if (key == "indirect")
        set(indirect, boolean());
      else if (key == "alignment")
        set(alignment, number());
      else if (key == "name")
        set(name, string());
      else
        fail();
    });
    fb::BindingBuilder table(builder_);
    put(table, &fb::BindingBuilder::add_name, name);
    put(table, &fb::BindingBuilder::add_alignment, alignment);
    put(table, &fb::BindingBuilder::add_indirect, indirect);
    put(table, &fb::BindingBuilder::add_read_only, readOnly);
    put(table, &fb::BindingBuilder::add_kind, kind);
    return table.Finish();
  }

  Offset<fb::Constant> constant() {
    Maybe<fb::ConstantKind> kind;
    Maybe<fb::ElementType> element;
    Maybe<uint32_t> size, alignment;
    Maybe<Offset<flatbuffers::String>> name;
    object([&](std::string_view key) {
      if (key == "kind")
        set(kind, enumerator<fb::ConstantKind>(fb::EnumNamesConstantKind()));
      else if (key == "element")
        set(element, enumerator<fb::ElementType>(fb::EnumNamesElementType()));
      else if (key == "size")
        set(size, number());
      else if (key == "alignment")
        set(alignment, number());
      else if (key == "name")
        set(name, string());
      else
        fail();
    });
    fb::ConstantBuilder table(builder_);
    put(table, &fb::ConstantBuilder::add_name, name);
    put(table, &fb::ConstantBuilder::add_alignment, alignment);
    put(table, &fb::ConstantBuilder::add_size, size);
    put(table, &fb::ConstantBuilder::add_element, element);
    put(table, &fb::ConstantBuilder::add_kind, kind);
    return table.Finish();
  }

  Offset<fb::Layout> layout() {
    Maybe<Offset<flatbuffers::Vector<Offset<fb::Binding>>>> bindings;
    Maybe<Offset<flatbuffers::Vector<Offset<fb::Constant>>>> constants;
    Maybe<uint32_t> hiddenPointers;
    object([&](std::string_view key) {
      if (key == "bindings")
        set(bindings, tables<fb::Binding>([this] { return binding(); }));
      else if (key == "constants")
        set(constants, tables<fb::Constant>([this] { return constant(); }));
      else if (key == "hidden_pointers")
        set(hiddenPointers, number());
      else
        fail();
    });
    fb::LayoutBuilder table(builder_);
    put(table, &fb::LayoutBuilder::add_hidden_pointers, hiddenPointers);
    put(table, &fb::LayoutBuilder::add_constants, constants);
    put(table, &fb::LayoutBuilder::add_bindings, bindings);
    return table.Finish();
  }

  Offset<fb::Launch> launch() {
    Maybe<Offset<flatbuffers::Vector<uint32_t>>> workgroupSize, cluster;
    Maybe<uint32_t> subgroupSize, dynamicShared;
    Maybe<bool> cooperative, programmatic;
    object([&](std::string_view key) {
      if (key == "workgroup_size")
        set(workgroupSize, numbers());
      else if (key == "subgroup_size")
        set(subgroupSize, number());
      else if (key == "dynamic_shared_bytes")
        set(dynamicShared, number());
      else if (key == "cluster")
        set(cluster, numbers());
      else if (key == "cooperative")
        set(cooperative, boolean());
      else if (key == "programmatic_dependent_launch")
        set(programmatic, boolean());
      else
        fail();
    });
    fb::LaunchBuilder table(builder_);
    put(table, &fb::LaunchBuilder::add_cluster, cluster);
    put(table, &fb::LaunchBuilder::add_dynamic_shared_bytes, dynamicShared);
    put(table, &fb::LaunchBuilder::add_subgroup_size, subgroupSize);
    put(table, &fb::LaunchBuilder::add_workgroup_size, workgroupSize);
    put(table, &fb::LaunchBuilder::add_programmatic_dependent_launch, programmatic);
    put(table, &fb::LaunchBuilder::add_cooperative, cooperative);
    return table.Finish();
  }

  Offset<fb::DeclaredExport> declaredExport() {
    Maybe<Offset<flatbuffers::String>> name, symbol, declaredAt;
    Maybe<uint32_t> ordinal;
    Maybe<Offset<fb::Layout>> layoutTable;
    Maybe<Offset<fb::Launch>> launchTable;
    Maybe<Offset<flatbuffers::Vector<Offset<flatbuffers::String>>>> signature;
    object([&](std::string_view key) {
      if (key == "name")
        set(name, string());
      else if (key == "symbol")
        set(symbol, string());
      else if (key == "ordinal")
        set(ordinal, number());
      else if (key == "layout")
        set(layoutTable, layout());
      else if (key == "launch")
        set(launchTable, launch());
      else if (key == "declared_at")
        set(declaredAt, string());
      else if (key == "signature")
        set(signature, tables<flatbuffers::String>([this] { return string(); }));
      else
        fail();
    });
    if (failed_ || !name || !layoutTable || !launchTable) {
      fail();
      return {};
    }
    fb::DeclaredExportBuilder table(builder_);
    put(table, &fb::DeclaredExportBuilder::add_signature, signature);
    put(table, &fb::DeclaredExportBuilder::add_declared_at, declaredAt);
    table.add_launch(*launchTable);
    table.add_layout(*layoutTable);
    put(table, &fb::DeclaredExportBuilder::add_ordinal, ordinal);
    put(table, &fb::DeclaredExportBuilder::add_symbol, symbol);
    table.add_name(*name);
    return table.Finish();
  }

  Offset<fb::ManifestObject> manifestObject() {
    Maybe<Offset<flatbuffers::String>> path, target, variant;
    Maybe<uint32_t> priority;
    object([&](std::string_view key) {
      if (key == "path")
        set(path, string());
      else if (key == "target")
        set(target, string());
      else if (key == "variant")
        set(variant, string());
      else if (key == "priority")
        set(priority, number());
      else
        fail();
    });
    if (failed_ || !path || (priority && *priority > INT32_MAX)) {
      fail();
      return {};
    }
    fb::ManifestObjectBuilder table(builder_);
    put(table, &fb::ManifestObjectBuilder::add_priority, priority);
    put(table, &fb::ManifestObjectBuilder::add_variant, variant);
    put(table, &fb::ManifestObjectBuilder::add_target, target);
    table.add_path(*path);
    return table.Finish();
  }

  Offset<fb::Manifest> manifest() {
    Maybe<Offset<flatbuffers::String>> name;
    Maybe<Offset<flatbuffers::Vector<Offset<fb::DeclaredExport>>>> exports;
    Maybe<Offset<flatbuffers::Vector<Offset<fb::ManifestObject>>>> objects;
    Maybe<bool> fromRecords;
    object([&](std::string_view key) {
      if (key == "name")
        set(name, string());
      else if (key == "exports")
        set(exports, tablesAt<fb::DeclaredExport>(out_.exportsAt, [this] { return declaredExport(); }));
      else if (key == "objects")
        set(objects, tablesAt<fb::ManifestObject>(out_.objectsAt, [this] { return manifestObject(); }));
      else if (key == "exports_from_records")
        set(fromRecords, boolean());
      else
        fail();
    });
    if (failed_ || !name || !objects) {
      fail();
      return {};
    }
    fb::ManifestBuilder table(builder_);
    put(table, &fb::ManifestBuilder::add_exports_from_records, fromRecords);
    table.add_objects(*objects);
    put(table, &fb::ManifestBuilder::add_exports, exports);
    table.add_name(*name);
    return table.Finish();
  }

  PlainManifest out_;
  std::vector<uint32_t> scratch_; // numbers and offsets of the lists that are being read, one behind the other
  flatbuffers::FlatBufferBuilder builder_;
  const char *begin_;
  const char *next_;
  const char *end_;
  bool failed_ = false;
};

} // namespace

std::optional<PlainManifest> readPlainManifest(std::string_view text) {
  return Reader(text).run();
}

} // namespace tenon::linker

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/json_table.h"

#include "linker/declare/manifest_schema.inc"
#include "support/status.h"
#include "support/text/nearest_names.h"

#include <algorithm>
#include <cctype>
#include <flatbuffers/reflection_generated.h>

namespace tenon::linker {
namespace {

using flatbuffers::Offset;
using reflection::BaseType;

/// What a schema says of a field, ready to be asked for each one that is read.
struct Field {
  std::string_view name;
  BaseType type = BaseType::None, element = BaseType::None; // element: of a list
  flatbuffers::voffset_t offset = 0;
  bool isRequired = false;
  size_t table = 0;                              // of a table or a list of tables
  const reflection::Enum *enumeration = nullptr; // of a number
};

struct Table {
  std::string_view name; // without its namespace
  std::vector<Field> fields;
  bool hasRequired = false;
};

std::string_view lastPart(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

} // namespace

struct JsonTableReader::Schema {
  std::vector<Table> tables; // as the schema numbers them

  Schema() {
    const reflection::Schema &schema = *reflection::GetSchema(kManifestSchema);
    for (const reflection::Object *object : *schema.objects()) {
      Table &table = tables.emplace_back(lastPart(object->name()->string_view()));
      for (const reflection::Field *field : *object->fields()) {
        const reflection::Type &type = *field->type();
        const bool isTable = type.base_type() == BaseType::Obj || type.element() == BaseType::Obj;
        const bool isEnum = type.base_type() <= BaseType::Double && type.index() >= 0;
        table.hasRequired |= field->required();
        table.fields.push_back({.name = field->name()->string_view(),
                                .type = type.base_type(),
                                .element = type.element(),
                                .offset = field->offset(),
                                .isRequired = field->required(),
                                .table = isTable ? size_t(type.index()) : 0,
                                .enumeration = isEnum ? schema.enums()->Get(uint32_t(type.index())) : nullptr});
      }
    }
  }
};

/// One text being read. Tables are made from the inside out, so the fields of one wait until it has ended.
class JsonTableReader::Reading {
public:
  Reading(const Schema &schema, std::string_view text) : schema_(schema), json_(text), builder_(text.size() + 1024) {
    builder_.ForceDefaults(true);
  }

  JsonTable run(std::string_view type) {
    const auto root = std::ranges::find(schema_.tables, type, &Table::name);
    const Offset<void> made = table(*root);
    json_.finish();
    out_.mistake = json_.mistake();
    if (out_.mistake && culprit_) {
      out_.mistake->message = concat("'", culprit_->name, "' of ", spelledOut(owner_), ": ", out_.mistake->message);
      out_.fix = concat("write \"", culprit_->name, "\": ", example(*culprit_));
    } else if (!out_.mistake) {
      builder_.Finish(made);
      out_.buffer = builder_.Release();
    }
    return std::move(out_);
  }

private:
  struct Pending {
    const Field *field;
    uint64_t value; // an integer, or the offset of what is made
  };

  Offset<void> table(const Table &type) {
    const size_t first = pending_.size();
    ++depth_;
    const size_t end = json_.object([&](std::string_view name, size_t at) {
      const auto field = std::ranges::find(type.fields, name, &Field::name);
      if (field == type.fields.end())
        return json_.fail(at, unknownField(type, name));
      for (size_t i = first; i < pending_.size(); ++i)
        if (pending_[i].field == &*field)
          return json_.fail(at, concat("field set more than once: ", name));
      if (json_.acceptNull())
        return;
      const uint64_t read = value(*field);
      pending_.push_back({&*field, read});
      if (json_.mistake())
        blame(*field, type.name);
    });
    --depth_;
    if (type.hasRequired)
      checkRequired(type, first, end);
    Offset<void> made = 0;
    if (!json_.mistake()) {
      const flatbuffers::uoffset_t start = builder_.StartTable();
      for (size_t i = pending_.size(); i-- > first;)
        add(*pending_[i].field, pending_[i].value);
      made = builder_.EndTable(start);
    }
    pending_.resize(first);
    return made;
  }

  /// The innermost field whose value is of another type than it has to be.
  void blame(const Field &field, std::string_view owner) {
    const std::string_view message = json_.mistake()->message;
    const bool isOfTables = field.type == BaseType::Obj || field.element == BaseType::Obj;
    const bool isOwn = isOfTables ? message.starts_with("expected a list") || message.starts_with("expected an object")
                                  : message.starts_with("expected ") || message.find(" is no") != std::string::npos;
    if (!culprit_ && !isExplained_ && isOwn) {
      culprit_ = &field;
      owner_ = owner;
    }
    isExplained_ = true;
  }

  /// A value of the field's type.
  static std::string example(const Field &field) {
    if (field.enumeration)
      return concat('"', field.enumeration->values()->Get(0)->name()->string_view(), '"');
    switch (field.type) {
    case BaseType::Bool:
      return "true";
    case BaseType::String:
      return "\"text\"";
    case BaseType::Obj:
      return "{..}";
    case BaseType::Vector:
      return field.element == BaseType::Obj ? "[{..}]" : field.element == BaseType::String ? "[\"text\"]" : "[64]";
    default:
      return "1";
    }
  }

  /// "unknown field 'readonly' of a binding; did you mean 'read_only'? (known: kind, ..)".
  std::string unknownField(const Table &type, std::string_view name) const {
    std::vector<std::string> known;
    for (const Field &field : type.fields)
      known.emplace_back(field.name);
    std::string text = concat("unknown field '", name, "' of ", spelledOut(type.name));
    for (const Table &other : schema_.tables)
      if (&other != &type && std::ranges::find(other.fields, name, &Field::name) != other.fields.end())
        return concat(text, "; it is a field of ", spelledOut(other.name), " (known here: ", joined(known), ')');
    return text + suggestion(name, known);
  }

  /// "a tensor map", "an export": types as a person says them.
  static std::string spelledOut(std::string_view type) {
    for (std::string_view prefix : {"Declared", "Manifest"})
      if (type.starts_with(prefix) && type != prefix)
        type.remove_prefix(prefix.size());
    std::string text;
    for (char c : type) {
      if (std::isupper(static_cast<unsigned char>(c)))
        text += ' ';
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return concat(text.find_first_of("aeiou") == 1 ? "an" : "a", text);
  }

  /// What may have been meant, and all that there is.
  static std::string suggestion(std::string_view name, const std::vector<std::string> &known) {
    const std::vector<std::string> near = nearestNames(name, known);
    return concat(near.empty() ? std::string() : concat("; did you mean ", quotedList(near, "or"), "?"),
                  " (known: ", joined(known), ')');
  }

  static std::string joined(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names)
      text += concat(text.empty() ? "" : ", ", name);
    return text;
  }

  /// The fields that were given are those of pending_ from `first` on.
  void checkRequired(const Table &type, size_t first, size_t end) {
    for (const Field &field : type.fields)
      if (field.isRequired && std::none_of(pending_.begin() + ptrdiff_t(first), pending_.end(),
                                           [&](const Pending &pending) { return pending.field == &field; }))
        json_.fail(end, concat(spelledOut(type.name), " has no '", field.name, "', which it has to have"));
  }

  void add(const Field &field, uint64_t value) {
    const flatbuffers::voffset_t at = field.offset;
    switch (field.type) {
    case BaseType::Bool:
    case BaseType::UByte:
      return builder_.AddElement(at, static_cast<uint8_t>(value), uint8_t(0));
    case BaseType::Int:
      return builder_.AddElement(at, static_cast<int32_t>(value), int32_t(0));
    case BaseType::UInt:
      return builder_.AddElement(at, static_cast<uint32_t>(value), uint32_t(0));
    default: // see value()
      return builder_.AddOffset(at, Offset<void>(static_cast<flatbuffers::uoffset_t>(value)));
    }
  }

  /// What a field is set to: an integer, or the offset of what was made. Of the types that flatc knows, the schema of
  /// manifests uses these.
  uint64_t value(const Field &field) {
    switch (field.type) {
    case BaseType::Bool:
      return json_.boolean();
    case BaseType::UByte:
      return field.enumeration ? enumerator(*field.enumeration) : json_.integer<uint8_t>();
    case BaseType::Int:
      return static_cast<uint64_t>(json_.integer<int32_t>());
    case BaseType::UInt:
      return json_.integer<uint32_t>();
    case BaseType::String:
      return string();
    case BaseType::Obj:
      return table(schema_.tables[field.table]).o;
    case BaseType::Vector:
      return list(field);
    default:
      json_.fail(json_.offset(), concat("a field of this type cannot be read: ", field.name));
      return 0;
    }
  }

  flatbuffers::uoffset_t string() {
    const std::string_view text = json_.string();
    return builder_.CreateString(text.data(), text.size()).o;
  }

  /// By name or by number; a number that is none of them is left to declarationFromTable().
  uint64_t enumerator(const reflection::Enum &enumeration) {
    if (json_.next() == JsonReader::Next::Number)
      return json_.integer<uint8_t>();
    const size_t at = json_.offset();
    const std::string_view name = json_.stringOrWord();
    for (const reflection::EnumVal *known : *enumeration.values())
      if (known->name()->string_view() == name)
        return static_cast<uint64_t>(known->value());
    const std::string lower = lowered(name);
    std::vector<std::string> known;
    std::string meant = enumeration.name()->string_view().ends_with("ElementType") ? elementMeant(lower) : "";
    for (const reflection::EnumVal *value : *enumeration.values()) {
      known.push_back(value->name()->str());
      if (lowered(known.back()) == lower)
        meant = known.back();
    }
    const std::string hint =
        meant.empty() ? suggestion(name, known) : concat("; did you mean '", meant, "'? (known: ", joined(known), ')');
    json_.fail(at, concat("unknown value '", name, "'", hint));
    return 0;
  }

  static std::string lowered(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(),
                           [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return result;
  }

  /// The element type that C++ or NumPy has this name for.
  static std::string elementMeant(std::string_view lower) {
    static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
        {"int8", "I8"},      {"uint8", "I8"},    {"int16", "I16"},     {"uint16", "I16"},         {"int16_t", "I16"},
        {"uint16_t", "I16"}, {"int32", "I32"},   {"uint32", "I32"},    {"int64", "I64"},          {"uint64", "I64"},
        {"bool", "I1"},      {"char", "I8"},     {"u8", "I8"},         {"int8_t", "I8"},          {"uint8_t", "I8"},
        {"short", "I16"},    {"u16", "I16"},     {"int", "I32"},       {"unsigned", "I32"},       {"uint", "I32"},
        {"u32", "I32"},      {"int32_t", "I32"}, {"uint32_t", "I32"},  {"long", "I64"},           {"long long", "I64"},
        {"u64", "I64"},      {"int64_t", "I64"}, {"uint64_t", "I64"},  {"size_t", "I64"},         {"half", "F16"},
        {"__half", "F16"},   {"float16", "F16"}, {"bfloat16", "BF16"}, {"__nv_bfloat16", "BF16"}, {"float", "F32"},
        {"float32", "F32"},  {"double", "F64"},  {"float64", "F64"}};
    const auto *found = std::ranges::find(kTypes, lower, &std::pair<std::string_view, std::string_view>::first);
    return found == std::end(kTypes) ? std::string() : std::string(found->second);
  }

  flatbuffers::uoffset_t list(const Field &field) {
    const BaseType type = field.element;
    std::vector<size_t> *places = nullptr;
    if (depth_ == 1)
      places = &out_.lists.emplace_back(field.name).elementsAt;
    const size_t first = elements_.size();
    json_.array([&] {
      if (places)
        places->push_back(json_.offset());
      const uint32_t element = type == BaseType::UInt     ? json_.integer<uint32_t>()
                               : type == BaseType::String ? string()
                                                          : table(schema_.tables[field.table]).o;
      elements_.push_back(element);
    });
    flatbuffers::uoffset_t made = 0;
    if (!json_.mistake()) {
      const uint32_t *elements = elements_.data() + first;
      const size_t count = elements_.size() - first;
      static_assert(sizeof(Offset<void>) == sizeof(uint32_t));
      made = type == BaseType::UInt ? builder_.CreateVector(elements, count).o
                                    : builder_.CreateVector(reinterpret_cast<const Offset<void> *>(elements), count).o;
    }
    elements_.resize(first);
    return made;
  }

  const Schema &schema_;
  JsonReader json_;
  JsonTable out_;
  size_t depth_ = 0;               // of tables that are open
  const Field *culprit_ = nullptr; // whose value the mistake is in
  std::string_view owner_;         // its table
  bool isExplained_ = false;       // the mistake has its culprit, or names it itself
  std::vector<Pending> pending_;   // of the open tables, one behind the other
  std::vector<uint32_t> elements_; // of the open lists, numbers and offsets
  flatbuffers::FlatBufferBuilder builder_;
};

std::span<const size_t> JsonTable::elementsOf(std::string_view field) const {
  const auto list = std::ranges::find(lists, field, &List::field);
  return list == lists.end() ? std::span<const size_t>() : list->elementsAt;
}

JsonTableReader::JsonTableReader() : schema_(std::make_unique<Schema>()) {}
JsonTableReader::~JsonTableReader() = default;

JsonTable JsonTableReader::read(std::string_view text, std::string_view type) const {
  return Reading(*schema_, text).run(type);
}

} // namespace tenon::linker

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A member has a header of 60 characters: name [16], date, owner, mode, size [10] at 48, and "`\n"; members begin at
// even offsets. A name is "short/", "/123" (offset into the member "//"), or "#1/20" (BSD: the first 20 bytes of the
// data). "/", "/SYM64/" and "__.SYMDEF" are tables of symbols.
#include "linker/object/archive.h"

#include "linker/object/byte_reader.h"
#include "support/number.h"

namespace tenon::linker {
namespace {

constexpr std::string_view kMagic = "!<arch>\n", kThinMagic = "!<thin>\n";
constexpr uint64_t kHeaderBytes = 60;

Status damaged(std::string_view what) {
  return makeError(StatusCode::DataLoss, "the archive is damaged: ", what);
}

/// A field of decimal digits, padded with blanks.
std::optional<uint64_t> paddedNumber(std::string_view field) {
  return parseNumber<uint64_t>(field.substr(0, field.find(' ')));
}

class Reader {
public:
  Result<std::vector<ArchiveMember>> run(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::optional<uint64_t> size =
          bytes.size() < kHeaderBytes ? std::nullopt : paddedNumber(bytes.substr(48, 10));
      std::optional<std::string_view> data = size ? bytesAt(bytes, kHeaderBytes, *size) : std::nullopt;
      if (!data || bytes.substr(58, 2) != "`\n")
        return damaged("a member ends outside");
      TENON_RETURN_IF_ERROR(addMember(bytes.substr(0, 16), *data));
      bytes.remove_prefix(std::min<uint64_t>(bytes.size(), kHeaderBytes + *size + *size % 2));
    }
    return std::move(members_);
  }

private:
  Status addMember(std::string_view field, std::string_view data) {
    field = field.substr(0, field.find_last_not_of(' ') + 1);
    if (field == "//")
      longNames_ = data;
    else if (field == "/" || field == "/SYM64/")
      return okStatus();
    else if (field.starts_with('/'))
      return addLongName(field.substr(1), data);
    else if (field.starts_with("#1/"))
      return addLeadingName(field.substr(3), data);
    else
      add(field.ends_with('/') ? field.substr(0, field.size() - 1) : field, data);
    return okStatus();
  }

  Status addLongName(std::string_view number, std::string_view data) {
    const std::optional<uint64_t> offset = paddedNumber(number);
    if (!offset || *offset >= longNames_.size())
      return damaged("a name is missing");
    std::string_view name = longNames_.substr(*offset);
    name = name.substr(0, name.find('\n'));
    add(name.ends_with('/') ? name.substr(0, name.size() - 1) : name, data);
    return okStatus();
  }

  Status addLeadingName(std::string_view number, std::string_view data) {
    const std::optional<uint64_t> length = paddedNumber(number);
    std::optional<std::string_view> name = length ? bytesAt(data, 0, *length) : std::nullopt;
    if (!name)
      return damaged("a name is missing");
    add(stringAt(*name, 0), data.substr(*length));
    return okStatus();
  }

  void add(std::string_view name, std::string_view data) {
    if (!name.starts_with("__.SYMDEF"))
      members_.push_back({std::string(name), data});
  }

  std::string_view longNames_;
  std::vector<ArchiveMember> members_;
};

} // namespace

Result<std::vector<ArchiveMember>> readArchive(std::string_view bytes) {
  if (bytes.starts_with(kThinMagic))
    return makeError(StatusCode::Unimplemented, "a thin archive holds names, not files: make it with ar r, without T");
  if (!bytes.starts_with(kMagic))
    return damaged("it has another header");
  return Reader().run(bytes.substr(kMagic.size()));
}

} // namespace tenon::linker

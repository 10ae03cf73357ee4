// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file is its magic, the SHA-256 of its name and contents, a line end and the contents.
#include "support/files/folder_cache.h"

#include "support/files/file.h"
#include "support/sha256.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <vector>

namespace tenon {

namespace fs = std::filesystem;

static constexpr size_t kHashDigits = 64;

FolderCache::FolderCache(std::string folder, std::string magic, uint64_t limit)
    : folder_(std::move(folder)), magic_(std::move(magic)), limit_(limit) {}

std::string FolderCache::userFolder() {
  if (const char *folder = std::getenv("TENON_CACHE_DIR"); folder && *folder)
    return std::string_view(folder) == "none" ? "" : folder;
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && cache[0] == '/')
    return concat(cache, "/tenon");
  if (const char *home = std::getenv("HOME"); home && home[0] == '/')
    return concat(home, "/.cache/tenon");
  return "";
}

static std::string checkOf(const std::string &name, std::string_view bytes) {
  return Sha256().addField(name).addField(bytes).hex();
}

/// Marks a file as used now.
static void touch(const std::string &path) {
  (void)utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // read-only caches work as well
}

std::optional<std::string> FolderCache::find(const std::string &name) const {
  if (!isEnabled())
    return std::nullopt;
  Result<std::string> bytes = readFile(pathOf(name), {.onlyFiles = true});
  const size_t head = magic_.size() + kHashDigits + 1;
  if (!bytes.ok() || bytes->size() < head || !bytes->starts_with(magic_))
    return std::nullopt;
  std::string body = bytes->substr(head);
  if (checkOf(name, body) != std::string_view(*bytes).substr(magic_.size(), kHashDigits))
    return std::nullopt;
  touch(pathOf(name));
  return body;
}

Status FolderCache::store(const std::string &name, std::string_view bytes) const {
  TENON_RETURN_IF_ERROR(storeOneOfMany(name, bytes));
  trim();
  return okStatus();
}

Status FolderCache::storeOneOfMany(const std::string &name, std::string_view bytes) const {
  if (!isEnabled())
    return okStatus();
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed)
    return makeError(StatusCode::FailedPrecondition, "cannot make the folder '", folder_, "': ", failed.message());
  const std::string path = pathOf(name);
  // A pipe would wait for somebody to read it.
  if (fs::exists(path, failed) && !fs::is_regular_file(path, failed))
    return makeError(StatusCode::FailedPrecondition, "cannot write '", path, "': it is no file");
  return writeFile(path, concat(magic_, checkOf(name, bytes), "\n", bytes));
}

void FolderCache::remove(const std::string &name) const {
  std::error_code gone;
  if (isEnabled())
    fs::remove(pathOf(name), gone);
}

void FolderCache::trim() const {
  if (!isEnabled())
    return;
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code failed; // another process may delete what is listed here
  for (fs::directory_iterator it(folder_, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code gone;
    Entry entry{it->last_write_time(gone), 0, it->path()};
    const bool isFile = !gone && it->is_regular_file(gone);
    entry.bytes = isFile && !gone ? it->file_size(gone) : 0;
    if (!isFile || gone)
      continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (total <= limit_)
    return;
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (total <= limit_)
      return;
    std::error_code gone;
    fs::remove(entry.path, gone);
    total -= entry.bytes;
  }
}

} // namespace tenon

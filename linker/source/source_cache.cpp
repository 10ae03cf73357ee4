// Two steps, since which headers a source reads is known only once it was compiled: the list of files of the last time,
// then their contents now. A wrong or shortened list leads to a key that nothing was stored under.
#include "linker/source/source_cache.h"

#include "abi/file.h"
#include "linker/source/sha256.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

namespace tenon::linker {

namespace fs = std::filesystem;

static constexpr std::string_view kMagic = "tenon-cu 1 ";
static constexpr size_t kHashDigits = 64;

SourceCache::SourceCache(std::string folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}

std::string SourceCache::defaultFolder() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && cache[0] == '/')
    return concat(cache, "/tenon");
  if (const char *home = std::getenv("HOME"); home && home[0] == '/')
    return concat(home, "/.cache/tenon");
  return "";
}

std::optional<std::string> SourceCache::contentsOf(const std::string &path) {
  {
    std::lock_guard lock(mutex_);
    if (auto known = hashes_.find(path); known != hashes_.end())
      return known->second;
  }
  std::optional<std::string> hash;
  if (Result<std::string> bytes = readFile(path); bytes.ok())
    hash = sha256(*bytes);
  std::lock_guard lock(mutex_);
  return hashes_.try_emplace(path, std::move(hash)).first->second;
}

std::optional<std::string> SourceCache::keyOfContents(const std::string &key, const std::vector<std::string> &files) {
  Sha256 hash;
  hash.addField(key);
  for (const std::string &file : files) {
    std::optional<std::string> contents = contentsOf(file);
    if (!contents)
      return std::nullopt;
    hash.addField(file).addField(*contents);
  }
  return hash.hex();
}

static std::string sealed(std::string_view body) {
  return concat(kMagic, sha256(body), "\n", body);
}

static std::optional<std::string_view> unsealed(std::string_view bytes) {
  const size_t head = kMagic.size() + kHashDigits + 1;
  if (bytes.size() < head || !bytes.starts_with(kMagic))
    return std::nullopt;
  const std::string_view body = bytes.substr(head);
  if (sha256(body) != bytes.substr(kMagic.size(), kHashDigits))
    return std::nullopt;
  return body;
}

/// Marks a file as used now.
static void touch(const std::string &path) {
  (void)utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // read-only caches work as well
}

std::optional<CachedSource> SourceCache::find(const std::string &key) {
  if (!isEnabled())
    return std::nullopt;
  Result<std::string> listed = readFile(pathOf(key + ".deps"));
  if (!listed.ok())
    return std::nullopt;
  std::optional<std::string_view> list = unsealed(*listed);
  if (!list)
    return std::nullopt;
  CachedSource compiled;
  for (std::string_view rest = *list; !rest.empty();) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    compiled.files.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::optional<std::string> contents = keyOfContents(key, compiled.files);
  if (!contents)
    return std::nullopt;
  Result<std::string> stored = readFile(pathOf(*contents + ".ptx"));
  if (!stored.ok())
    return std::nullopt;
  std::optional<std::string_view> body = unsealed(*stored);
  if (!body)
    return std::nullopt;
  // "BYTES OF THE LOG\n", the log, the PTX.
  size_t logBytes = 0;
  auto [stop, failed] = std::from_chars(body->data(), body->data() + body->size(), logBytes);
  const size_t head = size_t(stop - body->data()) + 1;
  if (failed != std::errc() || head > body->size() || logBytes > body->size() - head)
    return std::nullopt;
  compiled.log = body->substr(head, logBytes);
  compiled.ptx = body->substr(head + logBytes);
  touch(pathOf(key + ".deps"));
  touch(pathOf(*contents + ".ptx"));
  return compiled;
}

Status SourceCache::store(const std::string &key, const CachedSource &compiled) {
  if (!isEnabled())
    return okStatus();
  const std::optional<std::string> contents = keyOfContents(key, compiled.files);
  if (!contents)
    return okStatus(); // a file that was read is gone again
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed)
    return makeError(StatusCode::FailedPrecondition, "cannot make the folder '", folder_, "': ", failed.message());
  std::string list;
  for (const std::string &file : compiled.files)
    list.append(file).push_back('\0');
  TENON_RETURN_IF_ERROR(
      writeFile(pathOf(*contents + ".ptx"), sealed(concat(compiled.log.size(), "\n", compiled.log, compiled.ptx))));
  TENON_RETURN_IF_ERROR(writeFile(pathOf(key + ".deps"), sealed(list)));
  trim();
  return okStatus();
}

void SourceCache::trim() const {
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

} // namespace tenon::linker

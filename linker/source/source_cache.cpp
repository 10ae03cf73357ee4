// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two steps, since which headers a source reads is known only once it was compiled: the list of files of the last time,
// then their contents now. A wrong or shortened list leads to a key that nothing was stored under.
#include "linker/source/source_cache.h"

#include "support/files/file.h"
#include "support/number.h"
#include "support/sha256.h"

#include <algorithm>

namespace tenon::linker {

SourceCache::SourceCache(std::string folder, uint64_t limit) : files_(std::move(folder), "tenon-cu 1 ", limit) {}

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

std::optional<CachedSource> SourceCache::find(const std::string &key) {
  if (!isEnabled())
    return std::nullopt;
  const std::optional<std::string> list = files_.find(key + ".deps");
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
  const std::optional<std::string> body = files_.find(*contents + ".ptx");
  if (!body)
    return std::nullopt;
  // "BYTES OF THE LOG\n", the log, the PTX.
  std::string_view left = *body;
  const std::optional<size_t> logBytes = takeNumber<size_t>(left);
  if (!logBytes || left.empty() || *logBytes > left.size() - 1)
    return std::nullopt;
  compiled.log = left.substr(1, *logBytes);
  compiled.ptx = left.substr(1 + *logBytes);
  return compiled;
}

Status SourceCache::store(const std::string &key, const CachedSource &compiled) {
  if (!isEnabled())
    return okStatus();
  const std::optional<std::string> contents = keyOfContents(key, compiled.files);
  if (!contents)
    return okStatus(); // a file that was read is gone again
  std::string list;
  for (const std::string &file : compiled.files)
    list.append(file).push_back('\0');
  TENON_RETURN_IF_ERROR(
      files_.store(*contents + ".ptx", concat(compiled.log.size(), "\n", compiled.log, compiled.ptx)));
  return files_.store(key + ".deps", list);
}

} // namespace tenon::linker

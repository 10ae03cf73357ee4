// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The JSON becomes a table of the schema (json_table.h), the table a job.
#include "linker/declare/manifest.h"

#include "abi/arch_spelling.h"
#include "abi/format/manifest_generated.h"
#include "linker/declare/declaration.h"
#include "linker/declare/json_table.h"
#include "support/files/file.h"
#include "support/files/near_files.h"
#include "support/text/nearest_names.h"
#include "support/text/text.h"

#include "linker/object/object.h"
#include "linker/object/object_kind.h"
#include "linker/source/compile_sources.h"

#include <algorithm>
#include <filesystem>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;

std::string folderOf(const std::string &path) {
  size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string joinPath(const std::string &folder, const std::string &path) {
  return folder.empty() || folder.back() == '/' ? folder + path : folder + "/" + path;
}

/// Reads `path` from the first folder that has it. Reports every path tried when none has.
bool readObject(const std::string &path, const std::vector<std::string> &folders, const std::string &root,
                SourceLocation where, ObjectInput &object, Diagnostics &diagnostics) {
  std::vector<std::string> candidates;
  if (path.starts_with('/')) {
    candidates.push_back(path);
  } else {
    for (const std::string &folder : folders)
      candidates.push_back(joinPath(folder, path));
  }
  std::string tried;
  for (const std::string &candidate : candidates) {
    Result<FileBytes> bytes = FileBytes::read(root + candidate);
    if (bytes.ok()) {
      object.path = candidate;
      object.bytes = bytes.take();
      object.isSource = isCudaSource(candidate, object.bytes);
      return true;
    }
    tried += concat("\n  ", bytes.status().message());
  }
  const bool isFolder = std::ranges::any_of(candidates, [&](const std::string &candidate) {
    std::error_code ignored;
    return std::filesystem::is_directory(root + candidate, ignored);
  });
  const bool isSource = path.ends_with(".cu") || path.ends_with(".cuh") || path.ends_with(".cpp");
  const std::string advice = isFolder   ? "name a file in it"
                             : isSource ? "name its folder with --object-search-path=DIR"
                                        : "compile it, or name its folder with --object-search-path=DIR";
  const std::vector<std::string> near = nearFiles(candidates, root);
  diagnostics.error(std::move(where), "", concat("object '", path, "' cannot be read; tried:", tried))
      .withFix(near.empty() ? advice : concat("did you mean ", quotedList(near, "or"), "? Else ", advice));
  return false;
}

std::vector<std::string> foldersFor(const std::string &first, const ManifestOptions &options) {
  std::vector<std::string> folders = {first};
  folders.insert(folders.end(), options.searchPaths.begin(), options.searchPaths.end());
  return folders;
}

std::optional<abi::TargetArch> parseTarget(std::string_view text, const SourceLocation &where,
                                           Diagnostics &diagnostics) {
  std::optional<abi::TargetArch> target = abi::parseTargetArch(text);
  if (target && abi::findArch(*target))
    return target;
  diagnostics.error(where, "K-6", concat("target '", text, "' is not known")).withFix(abi::archAdvice(text));
  return std::nullopt;
}

/// Adds an object that was read to the job. Without a target, PTX is for its `.target`, a container or cubin for what
/// it says itself, and a source for every target of the job's options.
void addRead(ObjectInput object, std::optional<abi::TargetArch> target, const std::string &givenPath, LinkJob &job,
             Diagnostics &diagnostics) {
  if (!target && !object.isSource && !isBinaryObject(object.bytes)) {
    const SourceLocation place{object.path, 0, 0};
    const std::string_view word = targetDirective(object.bytes);
    const ObjectKind kind = detectObjectKind(object.bytes);
    if (word.empty() && !object.declaredAt.known() && trimmed(object.bytes).starts_with('{')) {
      diagnostics.error(place, "K-1", "this is JSON, and an object is wanted here")
          .withFix("a link has one manifest, which stands first: put its exports and objects there");
      return;
    }
    if (word.empty()) {
      const bool mayBePtx = kind == ObjectKind::Ptx || kind == ObjectKind::Unknown;
      Diagnostic &error =
          diagnostics.error(place, "K-1",
                            mayBePtx ? "the object has no .target, and none is given for it"
                                     : concat("the object is ", describe(kind), ", PTX or code for a GPU is wanted"));
      if (object.declaredAt.known())
        error.note(object.declaredAt, "the object is named here");
      if (!mayBePtx) {
        error.withFix(std::string(adviceFor(kind)));
        return;
      }
      error.withFix(object.declaredAt.known() ? "give PTX, or name its target: \"target\": \"sm_80\""
                                              : concat("give PTX, or name its target: sm_80=", givenPath));
      return;
    }
    target = parseTarget(word, place, diagnostics);
    if (!target)
      return;
  }
  object.target = target.value_or(abi::TargetArch());
  job.inputFiles.push_back(object.path);
  job.objects.push_back(std::move(object));
}

class Reader {
public:
  Reader(const SourceFile &source, const ManifestOptions &options, ManifestExtras &extras, Diagnostics &diagnostics)
      : source_(source), options_(options), extras_(extras), diagnostics_(diagnostics) {}

  LinkJob run() {
    table_ = JsonTableReader().read(source_.text(), "Manifest");
    if (table_.mistake) {
      diagnostics_
          .error(source_.locate(table_.mistake->offset), "", concat("malformed manifest: ", table_.mistake->message))
          .withFix(table_.fix);
      return {};
    }
    return read(*flatbuffers::GetRoot<fb::Manifest>(table_.buffer.data()));
  }

private:
  LinkJob read(const fb::Manifest &manifest) {
    LinkJob job;
    job.name = manifest.name()->str();
    if (source_.name() != "<stdin>")
      job.inputFiles.push_back(source_.name());
    if (manifest.exports()) {
      job.exports.reserve(manifest.exports()->size());
      extras_.signatures.reserve(manifest.exports()->size());
      for (const fb::DeclaredExport *table : *manifest.exports())
        addExport(*table, job);
    }
    extras_.exportsFromRecords = manifest.exports_from_records() || job.exports.empty();
    uint32_t position = 0;
    for (const fb::ManifestObject *object : *manifest.objects())
      readManifestObject(*object, position++, job);
    return job;
  }

  SourceLocation place(std::string_view list, size_t position) const {
    return source_.locate(table_.elementsOf(list)[position]);
  }

  void addExport(const fb::DeclaredExport &table, LinkJob &job) {
    const uint32_t position = uint32_t(job.exports.size());
    Declaration declaration = declarationFromTable(table, place("exports", position), diagnostics_);
    if (declaration.exported.ordinal == 0)
      declaration.exported.ordinal = position;
    job.exports.push_back(std::move(declaration.exported));
    extras_.signatures.push_back(std::move(declaration.signature));
  }

  void readManifestObject(const fb::ManifestObject &table, uint32_t position, LinkJob &job) {
    ObjectInput object;
    object.declaredAt = place("objects", position);
    object.priority = table.priority();
    if (table.variant())
      object.variantName = table.variant()->str();
    std::optional<abi::TargetArch> target;
    bool targetIsFine = true;
    if (table.target()) {
      target = parseTarget(table.target()->string_view(), object.declaredAt, diagnostics_);
      targetIsFine = target.has_value();
    }
    if (readObject(table.path()->str(), foldersFor(folderOf(source_.name()), options_), options_.root,
                   object.declaredAt, object, diagnostics_) &&
        targetIsFine)
      addRead(std::move(object), target, table.path()->str(), job, diagnostics_);
  }

  const SourceFile &source_;
  const ManifestOptions &options_;
  ManifestExtras &extras_;
  Diagnostics &diagnostics_;
  JsonTable table_;
};

} // namespace

LinkJob readManifest(const std::string &path, FileBytes text, const ManifestOptions &options, Diagnostics &diagnostics,
                     ManifestExtras *extras) {
  SourceFile source(path == "-" ? "<stdin>" : path, std::move(text));
  ManifestExtras ignored;
  return Reader(source, options, extras ? *extras : ignored, diagnostics).run();
}

void addObject(LinkJob &job, const std::string &argument, const ManifestOptions &options, Diagnostics &diagnostics) {
  std::string path = argument;
  std::optional<abi::TargetArch> target;
  if (size_t equals = argument.find('='); equals != std::string::npos && argument.starts_with("sm_")) {
    target = parseTarget(argument.substr(0, equals), {argument, 0, 0}, diagnostics);
    if (!target)
      return;
    path = argument.substr(equals + 1);
  }
  ObjectInput object;
  if (!readObject(path, foldersFor("", options), options.root, {path, 0, 0}, object, diagnostics))
    return;
  addRead(std::move(object), target, path, job, diagnostics);
}

} // namespace tenon::linker

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/link_options.h"

#include "abi/format/libraries.h"
#include "linker/assembler/toolkit.h"
#include "linker/object/object_kind.h"
#include "linker/tools/coverage.h"
#include "linker/tools/explain.h"
#include "support/files/file.h"

namespace tenon::linker {

bool isBuilt(const std::string &path) {
  if (path == "-")
    return false;
  Result<std::string> bytes = readFile(path);
  if (!bytes.ok())
    return false;
  const ObjectKind kind = detectObjectKind(*bytes);
  return kind == ObjectKind::Executable || kind == ObjectKind::Program;
}

static constexpr char kDescription[] =
    "Proves kernels against the ABI that a manifest declares and writes one executable with every variant.\n\n"
    "MANIFEST.json (- is standard input) is JSON of the schema abi/format/schemas/manifest.fbs; comments are allowed:\n"
    "  {\n"
    "    \"name\": \"kernels\",\n"
    "    \"exports\": [\n"
    "      {\"name\": \"saxpy\", \"launch\": {\"workgroup_size\": [128]},\n"
    "       \"layout\": {\"bindings\": [{\"read_only\": true, \"name\": \"x\"}, {\"name\": \"y\"}],\n"
    "                  \"constants\": [{\"element\": \"F32\", \"name\": \"a\"}, {\"element\": \"I32\"}]}}\n"
    "    ],\n"
    "    \"objects\": [{\"path\": \"kernels_sm_80.ptx\", \"target\": \"sm_80\"}]\n"
    "  }\n"
    "Without a manifest, the kernels are those that TENON_KERNEL of tenon/kernel.cuh declares in the objects.\n"
    "OBJECT is PATH or TARGET=PATH: PTX, a cubin, a fatbin, a host object, an archive, an executable, or a CUDA "
    "source.\n"
    "Without a target, the .target of the PTX is taken, and --target for sources.";

static void teach(CommandLine &line) {
  line.example("tenon-link kernels.cu --target=sm_80,sm_90a -o kernels.tnx",
               "kernels that declare themselves (tenon/kernel.cuh), for two architectures");
  line.example("tenon-link kernels.json --object-search-path=build -o kernels.tnx",
               "kernels that a manifest declares, with the objects that it names");
  line.example("tenon-link --import=kernels_sm_80.ptx -o kernels.json", "drafts that manifest from an object");
  line.example("tenon-link kernels.json --check", "the proof alone");
  line.example("tenon-link kernels.tnx --explain --device=sm_86 --driver=12.4",
               "which variant would run there, and why not the others");
  line.example("tenon-link --require-coverage=sm_80,sm_90 example.tenon",
               "fails unless a built executable or program runs there: for CI");
  line.example("tenon-link --replace saxpy=faster.cu --target=sm_80 example.tenon -o new.tenon",
               "puts another kernel into a built file");
  line.versions([] { return abi::libraryVersions() + toolkitVersions(); });
}

CommandLine LinkOptions::commandLine() {
  CommandLine line("tenon-link", "[MANIFEST.json] [OBJECT...] -o FILE", kDescription);
  line.text("o", "FILE", &output, "write the executable here (- is standard output)");
  line.flag("check", &proveOnly, "prove the kernels and print what was found; assemble and write nothing");
  line.flag("werror", &warningsAreErrors, "fail, and write nothing, where a link has a warning");
  line.list("target", "ARCH,..", &targets,
            "compile CUDA sources that are given without a target for these, as sm_80,sm_90a");
  line.words(targetNames(), true);
  link.declare(line);
  line.text("depfile", "FILE", &depfile, "write the files that were read here, as a rule for Make or Ninja");
  line.text("map", "FILE", &map, "write what became of every kernel and object here (- is standard output)");
  line.text("reproduce", "FILE.tar", &reproduce,
            "write everything that was read, and the command, here: to repeat the link elsewhere");
  line.text("chroot", "DIR", &root,
            "read files that are named by absolute paths below DIR, as --reproduce's link.sh does");
  line.list("require-coverage", "ARCH,..", &coverage,
            "fail unless every export runs on each of these devices, as sm_80,sm_90,sm_120;\n"
            "of an executable or program that is built, or of what is linked");
  line.words(targetNames(), true);
  line.flag("no-jit", &noJit, "with --require-coverage and --explain: the drivers compile no PTX");
  line.flag("explain", &explain, "print which variant a device takes, and why not the others");
  line.text("device", "ARCH", &device, "with --explain: the device, as sm_86 or 8.6");
  line.text("driver", "VERSION", &driver,
            "with --explain and --require-coverage: the CUDA version of the driver (13.0)");
  line.list("replace", "EXPORT=OBJECT", &replacements,
            "replace an export's kernel for the targets of OBJECT in the executable or program given;\n"
            "may be repeated for other targets of the same export");
  line.text("variant", "NAME", &variant, "with --replace: in the variant of this name");
  line.text("name", "NAME", &name, "the executable's name, without a manifest (kernels)");
  line.text("header", "FILE", &header,
            "write a CUDA header with prototypes and checks of the declared kernels here; nothing is linked");
  line.list("import", "OBJECT", &imports,
            "draft a manifest for the kernels of OBJECT, to -o FILE or standard output; may be repeated");
  line.list("kernel", "NAME", &kernels, "with --import: draft this kernel only; may be repeated");
  line.positional(&inputs);
  teach(line);
  return line;
}

static Status wrong(std::string_view message) {
  return makeError(StatusCode::InvalidArgument, message);
}

Status LinkOptions::applyTo(LinkJob &job) const {
  TENON_ASSIGN_OR_RETURN(job.sources.targets, parseTargetList(targets));
  job.proveOnly = proveOnly;
  job.sources.compiledRoot = root;
  return link.applyTo(job);
}

Status LinkOptions::check() {
  LinkJob probe;
  TENON_RETURN_IF_ERROR(applyTo(probe));
  const std::string driverVersion = driver.empty() ? "13.0" : driver;
  if (!coverage.empty()) {
    TENON_ASSIGN_OR_RETURN(required, coverageDevices(coverage, driverVersion, !noJit));
  }
  if (explain && device.empty())
    return wrong("--explain needs --device, as in --device=sm_86");
  if (!explain && !device.empty())
    return wrong("--device and --driver need --explain");
  if (!driver.empty() && !explain && coverage.empty())
    return wrong("--device and --driver need --explain");
  if (noJit && !explain && coverage.empty())
    return wrong("--no-jit needs --require-coverage or --explain");
  if (explain) {
    TENON_ASSIGN_OR_RETURN(explained, describeDevice(device, driverVersion));
    explained->canJit = !noJit;
  }
  const bool goesWithALink = explain || !coverage.empty() || !map.empty() || !depfile.empty() || !reproduce.empty();
  if (proveOnly && (!imports.empty() || !header.empty() || !replacements.empty()))
    return wrong("--check is of a link: it goes with neither --import, --header nor --replace");
  if (warningsAreErrors && (!imports.empty() || !header.empty() || !replacements.empty()))
    return wrong("--werror is of a link: it goes with neither --import, --header nor --replace");
  if (!imports.empty()) {
    work = Work::Import;
    return inputs.empty() && !goesWithALink && header.empty() && replacements.empty()
               ? okStatus()
               : wrong("--import takes no manifest, and neither --header nor --explain");
  }
  if (!kernels.empty())
    return wrong("--kernel needs --import");
  if (!variant.empty() && replacements.empty())
    return wrong("--variant needs --replace");
  if (inputs.empty())
    return wrong("no manifest or object given");
  if (!header.empty()) {
    work = Work::Header;
    return output.empty() && !goesWithALink && replacements.empty()
               ? okStatus()
               : wrong("--header links nothing: give neither -o nor --explain");
  }
  if (!replacements.empty()) {
    work = Work::Replace;
    if (inputs.size() != 1 || output.empty())
      return wrong("--replace takes one executable or program, and -o FILE");
    return map.empty() && reproduce.empty() && !explain && coverage.empty()
               ? okStatus()
               : wrong("--replace takes neither --map, --reproduce, --explain nor --require-coverage");
  }
  if (proveOnly)
    return output.empty() && !explain && coverage.empty() && map.empty() && depfile.empty()
               ? okStatus()
               : wrong("--check writes nothing: give neither -o, --map, --depfile, --explain nor --require-coverage");
  if (!output.empty())
    return depfile.empty() || output != "-" ? okStatus() : wrong("--depfile needs the output's name: -o FILE");
  if (!depfile.empty())
    return wrong("--depfile needs the output's name: -o FILE");
  if (inputs.size() == 1 && (explain || !coverage.empty()) && isBuilt(inputs.front())) {
    work = Work::Examine;
    return map.empty() && reproduce.empty() ? okStatus() : wrong("--map and --reproduce need a link: -o FILE");
  }
  return goesWithALink ? okStatus() : wrong("no output given: -o FILE (or --check, or --explain)");
}

} // namespace tenon::linker

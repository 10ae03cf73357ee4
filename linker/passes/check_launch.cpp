// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel may say how it wants to be launched (PTX ISA, "Performance-Tuning Directives" and "Cluster Dimension
// Directives"). `.reqntid` must be met exactly, `.maxntid` bounds the product of the extents, a required cluster size
// is met exactly too. Beyond that a device takes 1024 threads per workgroup, 64 along z; ptxas says nothing about
// either.
#include "abi/arch_table.h"
#include "linker/passes/passes.h"

namespace tenon::linker {
namespace {

std::string extentText(const abi::Extent3 &extent) {
  return concat(extent[0], 'x', extent[1], 'x', extent[2]);
}
uint64_t volume(const abi::Extent3 &extent) {
  return uint64_t(extent[0]) * extent[1] * extent[2];
}

/// The declaration alone; once per export, not per variant.
void checkDeclaration(LinkContext &context, const abi::Export &declared) {
  const abi::Launch &launch = declared.launch;
  auto error = [&](std::string message) -> Diagnostic & {
    return context.diagnostics.error(declared.declaredAt, "K-8", concat("export '", declared.name, "': ", message));
  };
  const abi::Extent3 &size = launch.workgroupSize;
  if (volume(size) == 0)
    error(concat("workgroup size ", extentText(size), " has no threads")).withFix("make every extent at least 1");
  // Each extent alone first, so that the product cannot wrap.
  if (size[0] > abi::kMaxBlockThreads || size[1] > abi::kMaxBlockThreads || size[2] > abi::kMaxBlockThreads ||
      volume(size) > abi::kMaxBlockThreads)
    error(concat("workgroup size ", extentText(size), " is more than ", abi::kMaxBlockThreads, " threads"))
        .withFix("declare a smaller workgroup and more of them");
  else if (size[2] > abi::kMaxBlockThreadsZ)
    error(concat("workgroup size ", extentText(size), " has more than ", abi::kMaxBlockThreadsZ, " threads along z"))
        .withFix("swap z with x or y");
  if (launch.subgroupSize != 0 && launch.subgroupSize != abi::kWarpLanes)
    error(concat("subgroup size ", launch.subgroupSize, ", CUDA devices have ", abi::kWarpLanes, " lanes"))
        .withFix(concat("declare ", abi::kWarpLanes, ", or leave it out"));
  if (launch.cluster == abi::Extent3{0, 0, 0})
    return;
  if (volume(launch.cluster) == 0)
    error(concat("cluster ", extentText(launch.cluster), " has no workgroups"))
        .withFix("make every extent at least 1, or leave the cluster out");
  else if (launch.cluster[0] > abi::kMaxClusterBlocks || launch.cluster[1] > abi::kMaxClusterBlocks ||
           launch.cluster[2] > abi::kMaxClusterBlocks || volume(launch.cluster) > abi::kMaxClusterBlocks)
    error(concat("cluster ", extentText(launch.cluster), " is more than ", abi::kMaxClusterBlocks, " workgroups"))
        .withFix(concat("declare at most ", abi::kPortableClusterBlocks, ", which every device from sm_90 on takes"));
  else if (volume(launch.cluster) > abi::kPortableClusterBlocks)
    context.diagnostics.warning(declared.declaredAt, "K-8",
                                concat("export '", declared.name, "': cluster ", extentText(launch.cluster),
                                       " is more than ", abi::kPortableClusterBlocks,
                                       " workgroups, which not every device has"));
}

/// One kernel against the declaration.
class Check {
public:
  Check(LinkContext &context, const Kernel &kernel)
      : context_(context), kernel_(kernel), entry_(*kernel.entry), declared_(context.exportOf(kernel)) {}

  void run() {
    checkThreads();
    checkCluster();
    checkDependency();
    checkCooperation();
  }

private:
  Diagnostic &error(std::string message) {
    return noteDeclared(
        context_.diagnostics.error(kernel_.object->placeOf(entry_), "K-8", concat("'", entry_.name, "' ", message)),
        declared_);
  }

  void checkThreads() {
    const abi::Launch &launch = declared_.launch;
    // What was generated for one target may take other workgroups than what was generated for the next.
    const bool isOwn = kernel_.object->input->origin == abi::Origin::Generated && entry_.requiredThreads;
    if (isOwn)
      return;
    if (entry_.requiredThreads && *entry_.requiredThreads != launch.workgroupSize)
      error(concat("has .reqntid ", extentText(*entry_.requiredThreads), ", the export declares workgroup size ",
                   extentText(launch.workgroupSize)))
          .withFix(concat("declare workgroup_size ", extentText(*entry_.requiredThreads)));
    if (entry_.maxThreads && launch.threads() > volume(*entry_.maxThreads))
      error(concat("has .maxntid ", extentText(*entry_.maxThreads), " (", volume(*entry_.maxThreads),
                   " threads), the export declares workgroup size ", extentText(launch.workgroupSize), " (",
                   launch.threads(), ")"))
          .withFix("declare a smaller workgroup, or raise __launch_bounds__ in the kernel");
  }

  void checkCluster() {
    const abi::Extent3 &cluster = declared_.launch.cluster;
    const bool isDeclared = cluster != abi::Extent3{0, 0, 0};
    const abi::TargetArch target = kernel_.object->input->target;
    const bool isGenerated = kernel_.object->input->origin == abi::Origin::Generated;
    // Where there are no clusters, a kernel that is generated beside the hand-written one is launched without.
    if (isDeclared && volume(cluster) > 1 && !abi::hasClusters(target.number) && !isGenerated)
      error(concat("is built for ", target.toString(), ", clusters (declared ", extentText(cluster), ") need sm_",
                   abi::kFirstWithClusters, " or later"))
          .withFix("leave the variant out, or give the export of that architecture another executable");
    // nvcc's __block_size__ asks for clusters of one workgroup: the same launch as without.
    const bool isSingle = entry_.requiredCluster == abi::Extent3{1, 1, 1} && !isDeclared;
    // Who generated a kernel made its grid as well, one for all targets: some have clusters, others have not.
    const bool isOwn = !isDeclared && entry_.requiredCluster && isGenerated;
    if (entry_.requiredCluster && *entry_.requiredCluster != cluster && !isSingle && !isOwn)
      error(concat("has .reqnctapercluster ", extentText(*entry_.requiredCluster), ", the export declares ",
                   isDeclared ? concat("cluster ", extentText(cluster)) : std::string("none")))
          .withFix(concat("declare cluster ", extentText(*entry_.requiredCluster)));
    else if (entry_.explicitCluster && !isDeclared && !isSingle && !isOwn)
      error("has .explicitcluster, the export declares no cluster")
          .withFix("declare the cluster that the kernel expects");
    if (entry_.maxClusterRank && isDeclared && volume(cluster) > *entry_.maxClusterRank)
      error(concat("has .maxclusterrank ", *entry_.maxClusterRank, ", the export declares cluster ",
                   extentText(cluster), " (", volume(cluster), " workgroups)"))
          .withFix("declare a smaller cluster, or raise the bound in the kernel");
    if (entry_.blocksAreClusters && entry_.requiredCluster != abi::Extent3{1, 1, 1})
      error("has .blocksareclusters (its grid counts clusters), which is not supported")
          .withFix("build the kernel without __block_size__'s cluster argument");
  }

  /// A kernel that is launched while the dispatch before it still runs has to wait for that one's results itself.
  void checkDependency() {
    const Object &object = *kernel_.object;
    if (!declared_.launch.programmaticDependentLaunch || object.input->target.number < abi::kFirstWithDependentLaunch ||
        object.isMetadataOnly)
      return;
    for (const ptx::Function *function : kernel_.reachable.functions)
      if (!function->isDeclaration)
        for (const ptx::Instruction &instruction : object.bodyOf(object.indexOf(*function)).instructions)
          if (instruction.opcode == "griddepcontrol" && instruction.hasModifier("wait"))
            return;
    const SourceLocation where = object.placeOf(entry_);
    const std::string message = concat("'", entry_.name,
                                       "' is declared with programmatic dependent launch and never waits for the "
                                       "dispatch before it (griddepcontrol.wait)");
    noteDeclared(context_.job.strict ? context_.diagnostics.error(where, "K-24", message)
                                     : context_.diagnostics.warning(where, "K-24", message),
                 declared_)
        .withFix("call cudaGridDependencySynchronize() before the first access, or declare it without "
                 "programmatic_dependent_launch");
  }

  /// A grid whose workgroups wait for each other needs all of them on the device at once, and memory to meet at, which
  /// the driver gives to a cooperative launch alone. Without it cooperative_groups' grid.sync() traps. Whether a kernel
  /// gets that far is not known (grid.is_valid() asks): most objects never name the registers.
  void checkCooperation() {
    const Object &object = *kernel_.object;
    if (declared_.launch.cooperative || object.isMetadataOnly ||
        object.text().find("%envreg") == std::string_view::npos)
      return;
    for (const ptx::Function *function : kernel_.reachable.functions)
      if (!function->isDeclaration)
        for (const ptx::Instruction &instruction : object.bodyOf(object.indexOf(*function)).instructions)
          for (const ptx::Operand &operand : instruction.operands)
            if (ptx::isGridWorkspace(operand.name))
              return reportCooperation(object.placeOf(instruction), operand.name);
  }

  void reportCooperation(const SourceLocation &where, std::string_view name) {
    const std::string message = concat("'", entry_.name, "' reads ", name,
                                       ", as a grid that waits for all of its workgroups does, and is not declared "
                                       "cooperative");
    noteDeclared(context_.job.strict ? context_.diagnostics.error(where, "K-25", message)
                                     : context_.diagnostics.warning(where, "K-25", message),
                 declared_)
        .withFix("declare it with cooperative, or leave out grid.sync(), which traps in any other launch");
  }

  LinkContext &context_;
  const Kernel &kernel_;
  const ptx::Function &entry_;
  const abi::Export &declared_;
};

} // namespace

void checkLaunch(LinkContext &context) {
  for (const abi::Export &declared : context.job.exports)
    checkDeclaration(context, declared);
  for (const Variant &variant : context.variants)
    for (const Kernel &kernel : variant.kernels)
      Check(context, kernel).run();
}

} // namespace tenon::linker

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tenon_add_executable(NAME
#   [MLIR module.mlir]       compiled by tenon-compile into NAME.tenon; without it, tenon-link writes NAME.tnx
#   [MANIFEST kernels.json]  declares kernels for tenon-link; not with MLIR
#   [KERNELS FILE...]        objects: CUDA sources, PTX, cubins, ... With MLIR, which names its objects, their folders are
#                            where they are looked for. Without, they are what is linked, beside what MANIFEST names;
#                            CUDA sources that declare their kernels (tenon/kernel.cuh) need no manifest
#   [TARGETS ARCH...]        sm_80 sm_90a: what CUDA sources and generated kernels are compiled for. Where the module
#                            names its targets itself, the two should be the same
#   [CUDA_FLAGS FLAG...]     for the compiler of CUDA sources
#   [OBJECT_PATHS DIR...]    more folders to look for objects in
#   [OPTIONS OPTION...]      more options of tenon-compile or tenon-link
#   [OUTPUT FILE]            instead of NAME.tenon or NAME.tnx in the current binary folder
#   [DEPENDS FILE...]        what has to be built first
#   [EXCLUDE_FROM_ALL])
#
# Adds a target NAME whose property TENON_FILE is the file's path, for generator expressions:
#   target_compile_definitions(app PRIVATE KERNELS="$<TARGET_PROPERTY:NAME,TENON_FILE>")
#   add_dependencies(app NAME)
# The file is made anew when anything that went into it changes, headers of CUDA sources included.
#
# CUDA sources are compiled by ${TENON_NVCC} (a cache variable), else ${CMAKE_CUDA_COMPILER}, else the nvcc that Tenon
# finds itself.
set(TENON_NVCC "" CACHE FILEPATH "nvcc, or clang, that compiles CUDA sources for tenon_add_executable; empty: searched for")

function(tenon_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXCLUDE_FROM_ALL" "MLIR;MANIFEST;OUTPUT"
    "KERNELS;TARGETS;CUDA_FLAGS;OBJECT_PATHS;OPTIONS;DEPENDS")
  set(where "tenon_add_executable(${name})")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${where}: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${where}: nothing behind ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(arg_MLIR AND arg_MANIFEST)
    message(FATAL_ERROR "${where}: MLIR and MANIFEST exclude each other: a module declares its kernels itself")
  endif()
  if(NOT arg_MLIR AND NOT arg_MANIFEST AND NOT arg_KERNELS)
    message(FATAL_ERROR "${where}: give MLIR, MANIFEST or KERNELS")
  endif()

  set(tool link)
  set(suffix .tnx)
  if(arg_MLIR)
    set(tool compile)
    set(suffix .tenon)
  endif()
  if(NOT TARGET Tenon::tenon-${tool})
    message(FATAL_ERROR "${where}: tenon-${tool} is not installed beside this CMake package")
  endif()

  set(arguments)
  set(inputs)
  set(folders)
  foreach(input IN LISTS arg_MLIR arg_MANIFEST)
    get_filename_component(input "${input}" ABSOLUTE)
    list(APPEND arguments "${input}")
    list(APPEND inputs "${input}")
  endforeach()
  foreach(kernel IN LISTS arg_KERNELS)
    get_filename_component(kernel "${kernel}" ABSOLUTE)
    list(APPEND inputs "${kernel}")
    if(arg_MLIR)
      get_filename_component(folder "${kernel}" DIRECTORY)
      list(APPEND folders "${folder}")
    else()
      list(APPEND arguments "${kernel}")
    endif()
  endforeach()
  foreach(folder IN LISTS arg_OBJECT_PATHS)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND folders "${folder}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  list(TRANSFORM folders PREPEND "--object-search-path=")
  list(APPEND arguments ${folders})
  if(arg_TARGETS)
    list(JOIN arg_TARGETS "," targets)
    list(APPEND arguments "--target=${targets}")
  endif()
  foreach(flag IN LISTS arg_CUDA_FLAGS)
    list(APPEND arguments "--cu-flag=${flag}")
  endforeach()
  if(TENON_NVCC)
    list(APPEND arguments "--nvcc=${TENON_NVCC}")
  elseif(CMAKE_CUDA_COMPILER)
    list(APPEND arguments "--nvcc=${CMAKE_CUDA_COMPILER}")
  endif()

  set(output "${arg_OUTPUT}")
  if(NOT output)
    set(output "${name}${suffix}")
  endif()
  get_filename_component(output "${output}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  get_filename_component(folder "${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(RELATIVE_PATH shown "${CMAKE_BINARY_DIR}" "${output}")

  # Other generators than Ninja and Make know no depfiles: there the inputs that are named here are looked at.
  set(depfile)
  if(CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(depfile DEPFILE "${output}.d")
    list(APPEND arguments "--depfile=${output}.d")
    if(POLICY CMP0116)
      cmake_policy(SET CMP0116 NEW)
    endif()
  endif()
  add_custom_command(OUTPUT "${output}"
    COMMAND Tenon::tenon-${tool} ${arguments} ${arg_OPTIONS} -o "${output}"
    DEPENDS ${inputs} ${arg_DEPENDS} Tenon::tenon-${tool} ${depfile}
    COMMENT "tenon-${tool}: ${shown}" VERBATIM)
  set(all ALL)
  if(arg_EXCLUDE_FROM_ALL)
    set(all)
  endif()
  add_custom_target(${name} ${all} DEPENDS "${output}")
  set_target_properties(${name} PROPERTIES TENON_FILE "${output}")
endfunction()

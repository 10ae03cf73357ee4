// Options that several tools have, in the same words.
#pragma once

#include "abi/command_line.h"

#include <string>
#include <vector>

namespace tenon::runtime {

inline void declareDevice(CommandLine &line, std::string *device) {
  line.text("device", "DEVICE", device,
            "cuda, cuda:1 or emulator; left out: the GPU where there is one, else the emulator");
}
inline void declareVariant(CommandLine &line, std::string *variant) {
  line.text("variant", "NAME", variant,
            "take this variant only, in executables that have it; left out: the best one for the device");
}
inline void declareInputs(CommandLine &line, std::vector<std::string> *inputs) {
  line.list("input", "VALUE", inputs,
            "8xf32=2, 2x2xi32=[[1 2][3 4]], 3.14, @f.npy, +f.npy, *f.npy, 4xf32=@f.bin; one per input");
}
inline void declareSynchronous(CommandLine &line, bool *synchronous) {
  line.flag("synchronous", synchronous, "wait after every command, so that a fault names it");
}

} // namespace tenon::runtime

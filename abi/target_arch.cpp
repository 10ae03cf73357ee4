#include "abi/target_arch.h"

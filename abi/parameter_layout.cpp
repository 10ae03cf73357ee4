#include "abi/parameter_layout.h"

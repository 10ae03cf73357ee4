#include "abi/diagnostics.h"

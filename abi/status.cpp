#include "abi/status.h"

#include "abi/layout.h"

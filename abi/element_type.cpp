#include "abi/element_type.h"

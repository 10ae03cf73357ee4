#include "abi/executable_view.h"

#include "abi/file.h"

#include "abi/source_file.h"

#include "abi/program_view.h"

#include "ptx/parser.h"

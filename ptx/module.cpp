#include "ptx/module.h"

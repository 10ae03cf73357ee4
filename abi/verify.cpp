#include "abi/verify.h"

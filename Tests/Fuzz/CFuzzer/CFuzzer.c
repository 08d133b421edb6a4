#include "CFuzzer.h"

// The Swift runtime keeps what it allocates once; leaks of the code itself are found by the limit of memory.
const char *__asan_default_options(void) { return "detect_leaks=0"; }

#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

// What libFuzzer offers; see https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*input)(const uint8_t *data, size_t size));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maximumSize);

#endif

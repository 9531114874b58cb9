/*
 * A fuzz target is one file here that defines the function below. clang links it with libFuzzer; driver.c stands in for
 * that elsewhere. corpus/TARGET has the inputs to begin with, and every input that once was a finding.
 */
#ifndef MUSTER_FUZZ_H
#define MUSTER_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

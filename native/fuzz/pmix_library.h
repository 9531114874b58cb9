/* What the target links.c asks of the PMIx server. */
#ifndef MUSTER_FUZZ_PMIX_LIBRARY_H
#define MUSTER_FUZZ_PMIX_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

void fuzz_pmix_open(void);
void fuzz_pmix_ask(uint32_t rank);
void fuzz_pmix_forget(void);
void fuzz_pmix_fence(const uint8_t *ranks, size_t count);

#endif

/* What the target links.c asks of the PMIx server. */
#ifndef MUSTER_FUZZ_PMIX_LIBRARY_H
#define MUSTER_FUZZ_PMIX_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

struct helper;

void fuzz_pmix_open(struct helper *helper);
void fuzz_pmix_ask(struct helper *helper, uint32_t rank);
void fuzz_pmix_forget(struct helper *helper);
void fuzz_pmix_fence(struct helper *helper, const uint8_t *ranks, size_t count);

#endif

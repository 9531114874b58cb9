/*
 * Keys and values in the order in which they came. Called by: collective.c, pmi.c.
 */
#ifndef MUSTER_MPI_HELPER_STORE_H
#define MUSTER_MPI_HELPER_STORE_H

#include <stdbool.h>
#include <stddef.h>

struct store;
struct store *store_new(void);
void store_put(struct store *s, const char *key, const char *value);
const char *store_get(const struct store *s, const char *key);
bool store_remove(struct store *s, const char *key);
size_t store_count(const struct store *s);
bool store_at(const struct store *s, size_t index, const char **key, const char **value);
void store_clear(struct store *s);

#endif

/* Keys and values in the order in which they came, found by an open table of their places. */
#define _GNU_SOURCE
#include "helper.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    char *key, *value;
};
struct store {
    struct entry *entries;
    size_t count, room;
    uint32_t *places;
    size_t place_count;
};

struct store *store_new(void) { return claim(1, sizeof(struct store)); }

static size_t hash(const char *key)
{
    uint64_t h = 1469598103934665603ull;
    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 1099511628211ull;
    return (size_t)(h ^ h >> 29);
}

/* The place where the key is, or where it would stand; 0 in it means free. */
static size_t place(const struct store *s, const char *key)
{
    size_t at = hash(key) & (s->place_count - 1);
    while (s->places[at] && strcmp(s->entries[s->places[at] - 1].key, key))
        at = (at + 1) & (s->place_count - 1);
    return at;
}

static void index_again(struct store *s)
{
    free(s->places);
    s->places = claim(s->place_count, sizeof *s->places);
    for (size_t i = 0; i < s->count; i++)
        s->places[place(s, s->entries[i].key)] = (uint32_t)i + 1;
}

void store_put(struct store *s, const char *key, const char *value)
{
    if (s->count * 2 >= s->place_count) {
        s->place_count = s->place_count ? s->place_count * 2 : 64;
        index_again(s);
    }
    size_t at = place(s, key);
    if (s->places[at]) {
        struct entry *e = &s->entries[s->places[at] - 1];
        free(e->value);
        e->value = claim_text(value, strlen(value));
        return;
    }
    if (s->count == s->room) {
        s->room = s->room ? s->room * 2 : 32;
        s->entries = realloc(s->entries, s->room * sizeof *s->entries);
        if (!s->entries)
            abort();
    }
    s->entries[s->count++] = (struct entry){claim_text(key, strlen(key)), claim_text(value, strlen(value))};
    s->places[at] = (uint32_t)s->count;
}

const char *store_get(const struct store *s, const char *key)
{
    uint32_t found = s->place_count ? s->places[place(s, key)] : 0;
    return found ? s->entries[found - 1].value : NULL;
}

bool store_remove(struct store *s, const char *key)
{
    uint32_t found = s->place_count ? s->places[place(s, key)] : 0;
    if (!found)
        return false;
    free(s->entries[found - 1].key);
    free(s->entries[found - 1].value);
    memmove(&s->entries[found - 1], &s->entries[found], (s->count - found) * sizeof *s->entries);
    s->count--;
    index_again(s);
    return true;
}

size_t store_count(const struct store *s) { return s->count; }

bool store_at(const struct store *s, size_t index, const char **key, const char **value)
{
    if (index >= s->count)
        return false;
    *key = s->entries[index].key;
    *value = s->entries[index].value;
    return true;
}

void store_clear(struct store *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->entries[i].key);
        free(s->entries[i].value);
    }
    s->count = 0;
    if (s->place_count)
        index_again(s);
}

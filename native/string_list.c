/* See string_list.h. */
#include "string_list.h"

#include <stdlib.h>

void strings_add(struct strings *list, char *item)
{
    if (list->count + 1 >= list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        char **grown = realloc(list->items, room * sizeof(char *));
        if (!grown)
            abort();
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = item;
    list->items[list->count] = NULL;
}

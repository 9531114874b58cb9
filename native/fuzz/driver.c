/*
 * Fuzzing without libFuzzer: DRIVER CORPUS_DIRECTORY SECONDS [SEED]. Runs every file of the corpus, then mutations of
 * them for SECONDS. The seed is printed; with it the run repeats itself. An input that a sanitizer objects to, or that
 * takes 10 s, is written to
 * ./crash-PID.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 1024
#define INPUT_BYTES_MAX 65536u
#define HANG_SECONDS 10
#define MUTATIONS_MAX 8

struct input {
    uint8_t *bytes;
    size_t length;
};

static struct input corpus[FILES_MAX];
static size_t corpus_count;
static uint64_t random_state;
/* What runs now: the callback of a dying sanitizer has no argument. */
static struct input current;

static void save_current(void)
{
    char name[32];
    int length = snprintf(name, sizeof name, "crash-%d", (int)getpid());
    int fd = length > 0 ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    if (fd < 0 || write(fd, current.bytes, current.length) != (ssize_t)current.length)
        return;
    close(fd);
    dprintf(2, "input of %zu bytes: %s\n", current.length, name);
}

static void on_fatal_signal(int number)
{
    save_current();
    signal(number, SIG_DFL);
    raise(number);
}

/* xorshift64*: small and the same everywhere. */
static size_t random_below(size_t bound)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return bound ? (size_t)((random_state * 0x2545F4914F6CDD1Dull) >> 33) % bound : 0;
}

static void read_corpus(const char *directory)
{
    DIR *all = opendir(directory);
    struct dirent *entry;
    while (all && (entry = readdir(all)) && corpus_count < FILES_MAX) {
        struct stat st;
        int fd = openat(dirfd(all), entry->d_name, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= (off_t)INPUT_BYTES_MAX) {
            struct input *input = &corpus[corpus_count++];
            input->bytes = malloc((size_t)st.st_size + 1);
            ssize_t n = input->bytes ? read(fd, input->bytes, (size_t)st.st_size) : -1;
            input->length = n > 0 ? (size_t)n : 0;
        }
        if (fd >= 0)
            close(fd);
    }
    if (all)
        closedir(all);
}

static void run(const uint8_t *bytes, size_t length)
{
    current.length = length;
    if (length)
        memcpy(current.bytes, bytes, length);
    alarm(HANG_SECONDS);
    /* of exactly that size, so that reading beyond its end is seen */
    uint8_t *exact = malloc(length ? length : 1);
    if (!exact)
        abort();
    if (length)
        memcpy(exact, bytes, length);
    LLVMFuzzerTestOneInput(exact, length);
    free(exact);
}

static size_t insert(uint8_t *bytes, size_t length, size_t place, const uint8_t *from, size_t n)
{
    if (length + n > INPUT_BYTES_MAX)
        return length;
    memmove(bytes + place + n, bytes + place, length - place);
    memcpy(bytes + place, from, n);
    return length + n;
}

static size_t mutate(uint8_t *bytes, size_t length)
{
    static const uint8_t BYTES[] = {0, 1, 0x7f, 0x80, 0xff, '\n', ' ', '=', ';', ',', '-', '0', '9'};
    static const char *const WORDS[] = {
        "-1", "0", "4294967295", "18446744073709551615", "99999999999999999999", "\xff\xff\xff\xff"};
    size_t place = random_below(length + 1), n = random_below(16) + 1;
    uint8_t copy[64];
    switch (random_below(8)) {
    case 0:
        if (place < length)
            bytes[place] ^= (uint8_t)(1u << random_below(8));
        return length;
    case 1:
        if (place < length)
            bytes[place] = BYTES[random_below(sizeof BYTES)];
        return length;
    case 2:
        if (place < length)
            bytes[place] = (uint8_t)(bytes[place] + random_below(9) - 4);
        return length;
    case 3:
        n = n > length - place ? length - place : n;
        memmove(bytes + place, bytes + place + n, length - place - n);
        return length - n;
    case 4:
        n = n * 4 > length - place ? length - place : n * 4;
        memcpy(copy, bytes + place, n);
        return insert(bytes, length, random_below(length + 1), copy, n);
    case 5: return insert(bytes, length, place, &BYTES[random_below(sizeof BYTES)], 1);
    case 6: {
        const char *word = WORDS[random_below(sizeof WORDS / sizeof WORDS[0])];
        return insert(bytes, length, place, (const uint8_t *)word, strlen(word));
    }
    default: {
        const struct input *other = &corpus[random_below(corpus_count)];
        size_t from = random_below(other->length + 1), most = other->length - from;
        return insert(bytes, length, place, other->bytes + from, random_below(most + 1));
    }
    }
}

int main(int argc, char **argv)
{
    static uint8_t bytes[INPUT_BYTES_MAX];
    if (argc < 3)
        return fprintf(stderr, "usage: %s CORPUS_DIRECTORY SECONDS [SEED]\n", argv[0]), 2;
    time_t end = time(NULL) + atol(argv[2]);
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    unsigned long runs = 0;
    random_state = seed ? seed : 1;
    current.bytes = malloc(INPUT_BYTES_MAX);
    read_corpus(argv[1]);
    if (!corpus_count || !current.bytes)
        return fprintf(stderr, "%s: no corpus\n", argv[1]), 2;
    __sanitizer_set_death_callback(save_current);
    signal(SIGALRM, on_fatal_signal);
    signal(SIGABRT, on_fatal_signal);
    for (size_t i = 0; i < corpus_count; i++)
        run(corpus[i].bytes, corpus[i].length);
    for (; time(NULL) < end; runs++) {
        const struct input *first = &corpus[random_below(corpus_count)];
        size_t length = first->length;
        if (length)
            memcpy(bytes, first->bytes, length);
        for (size_t k = random_below(MUTATIONS_MAX) + 1; k > 0; k--)
            length = mutate(bytes, length);
        run(bytes, length);
    }
    alarm(0);
    printf("%zu files, %lu mutations, seed %llu\n", corpus_count, runs, (unsigned long long)seed);
    return 0;
}

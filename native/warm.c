/*
 * The short path of commands: the command service of this machine carries the command out, this process lends it what
 * is the caller's: descriptors, files, identity, signals. README.md lists the frames. Before the first byte of output
 * anything that goes wrong, also a second of silence, means the long path, with the same request id; after it there is
 * no way back. Except for srun: this process knows how far its step's output has come, and goes on from there by
 * itself.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SILENCE_MS 1000
#define SILENCE_OF_STEP_MS 5000 /* srun that follows a step loses nothing by waiting */
#define SILENCE_AFTER_OUTPUT_MS                                                                                        \
    15000 /* what was written cannot be taken back: only a service that is surely stuck is given up */
#define SACK_MS 1000
#define FRAME_BYTES_MAX (16u << 20)
#define SESSION_BYTES_MAX 8192
#define LEND_BYTES_MAX (8u << 20) /* of one file, or one piece of standard input */

#define INPUT_KEPT_BYTES (1u << 20) /* more than any node takes ahead of its tasks */
#define POSITION_BYTES 14           /* u32 task, u8 stream, u64 offset, u8 descriptor */

#define BACKGROUND_MS 500 /* how soon input is taken again after its terminal came back */

enum { CONTINUE = -1, COLD = -2 };

struct bytes {
    char *at;
    size_t have, room;
};

static int service = -1;
static bool has_output;
static struct bytes taken_input;       /* read from standard input for the service: the long path must get it as well */
static unsigned long long taken_bytes; /* of standard input in all; a step's is kept to its last part only */
static size_t input_asked;             /* the service wants so much of standard input; 0: nothing */
static bool follows_step;              /* srun */
static int signals = -1;
static long long heard_ms;
static struct bytes checkpoint; /* what a long path of srun needs to go on with the step */
static struct position {
    uint32_t task;
    uint8_t stream;
    uint64_t offset;
} * positions;
static size_t position_count, position_room;

static const char *const WARM[] = {
    "squeue", "sinfo",   "sprio",  "sdiag",    "sacct",    "sstat", "sreport",
    "sshare", "scancel", "sbatch", "scontrol", "sacctmgr", "srun",
};

/* Interactive uses stay with the long path; the service sends back whatever else it does not want. */
static bool is_warm(void)
{
    for (size_t i = 0; i < sizeof WARM / sizeof WARM[0]; i++)
        if (!strcmp(launcher.name, WARM[i]))
            return launcher.argc > 1 || (strcmp(launcher.name, "scontrol") && strcmp(launcher.name, "sacctmgr"));
    return false;
}

static void add(struct bytes *b, const void *bytes, size_t n)
{
    if (b->have + n > b->room) {
        while (b->have + n > b->room)
            b->room = b->room ? b->room * 2 : 16384;
        b->at = realloc(b->at, b->room);
        if (!b->at)
            abort();
    }
    if (n)
        memcpy(b->at + b->have, bytes, n);
    b->have += n;
}

static void entry(struct bytes *b, const char *name, const char *value)
{
    char head[64];
    add(b, head, (size_t)snprintf(head, sizeof head, "%s %zu\n", name, strlen(value)));
    add(b, value, strlen(value));
    add(b, "\n", 1);
}

static void number(struct bytes *b, const char *name, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    entry(b, name, text);
}

static void limits(struct bytes *b)
{
    static const struct {
        const char *name;
        int resource;
    } ALL[] = {
        {"CPU", RLIMIT_CPU},         {"FSIZE", RLIMIT_FSIZE}, {"DATA", RLIMIT_DATA},   {"STACK", RLIMIT_STACK},
        {"CORE", RLIMIT_CORE},       {"RSS", RLIMIT_RSS},     {"NPROC", RLIMIT_NPROC}, {"NOFILE", RLIMIT_NOFILE},
        {"MEMLOCK", RLIMIT_MEMLOCK}, {"AS", RLIMIT_AS},
    };
    char text[64];
    for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)ALL[i].resource, &limit) < 0)
            continue;
        if (limit.rlim_cur == RLIM_INFINITY)
            snprintf(text, sizeof text, "%s -1", ALL[i].name);
        else
            snprintf(text, sizeof text, "%s %llu", ALL[i].name, (unsigned long long)limit.rlim_cur);
        entry(b, "limit", text);
    }
}

static void terminals(struct bytes *b)
{
    struct winsize size;
    char text[4] = "000";
    for (int fd = 0; fd < 3; fd++)
        text[fd] = isatty(fd) ? '1' : '0';
    entry(b, "tty", text);
    if (ioctl(1, TIOCGWINSZ, &size) == 0) {
        number(b, "rows", size.ws_row);
        number(b, "columns", size.ws_col);
    }
}

static bool describe(struct bytes *b)
{
    char *directory = getcwd(NULL, 0);
    gid_t groups[1024];
    int count = getgroups(1024, groups);
    if (!directory || count < 0)
        return false;
    entry(b, "name", launcher.name);
    entry(b, "request_id", launcher.request_id);
    entry(b, "cwd", directory);
    free(directory);
    number(b, "pid", getpid());
    number(b, "uid", getuid());
    number(b, "gid", getgid());
    for (int i = 0; i < count; i++)
        number(b, "group", groups[i]);
    number(b, "umask", launcher.umask);
    limits(b);
    terminals(b);
    for (int i = 0; i < launcher.argc; i++)
        entry(b, "argv", launcher.argv[i]);
    for (char **e = launcher.environment; *e; e++)
        entry(b, "env", *e);
    return b->have < FRAME_BYTES_MAX;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool send_frame(char type, const char *bytes, size_t n)
{
    uint32_t length = (uint32_t)n + 1;
    char head[5] = {(char)(length >> 24), (char)(length >> 16), (char)(length >> 8), (char)length, type};
    return send_all(service, head, sizeof head) && send_all(service, bytes, n);
}

static uint32_t big_endian(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd p = {fd, POLLIN, 0};
    int n;
    while ((n = poll(&p, 1, timeout_ms)) < 0 && errno == EINTR)
        continue;
    return n > 0;
}

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* How long the service may say nothing, from what it said last on. */
static int patience_ms(void)
{
    int silence = has_output && !follows_step ? SILENCE_AFTER_OUTPUT_MS
                : checkpoint.have             ? SILENCE_OF_STEP_MS
                                              : SILENCE_MS;
    long long left = heard_ms + silence - now_ms();
    return left < 0 ? 0 : (int)left;
}

static bool receive(char *into, size_t n)
{
    while (n) {
        if (!readable(service, patience_ms()))
            return false;
        ssize_t got = recv(service, into, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        into += got;
        n -= (size_t)got;
        heard_ms = now_ms();
    }
    return true;
}

static bool receive_frame(char *type, struct bytes *body)
{
    char head[5];
    if (!receive(head, sizeof head))
        return false;
    uint32_t length = big_endian(head);
    if (!length || length > FRAME_BYTES_MAX)
        return false;
    *type = head[4];
    body->have = 0;
    if (length > body->room) {
        body->room = length;
        body->at = realloc(body->at, body->room);
        if (!body->at)
            abort();
    }
    body->have = length - 1;
    return receive(body->at, body->have);
}

static int connect_to(const char *path, int timeout_ms)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval bound = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Only root carries out root's commands; root or the user named at installation those of others. */
static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0
        && (peer.uid == 0
            || (geteuid() != 0 && service_uid_fits(launcher.service_uid) && peer.uid == (uid_t)launcher.service_uid));
}

static int connect_to_service(void)
{
    char path[sizeof launcher.service + sizeof SERVICE_OF_ROOT];
    snprintf(path, sizeof path, "%s%s", launcher.service, geteuid() == 0 ? SERVICE_OF_ROOT : "");
    return connect_to(path, SILENCE_MS);
}

/* ---- what the service asks for ---- */

/* The sockets through which daemons vouch for callers; any other is none of the service's business. */
static bool is_sack(const char *path)
{
    const char *slash = strrchr(path, '/');
    return *path == '/' && !strncmp(slash + 1, "sack", 4);
}

/* A session for this caller from one of the sack sockets, which are separated by newlines; empty when none answers. */
static bool lend_session(struct bytes *paths)
{
    char session[SESSION_BYTES_MAX], *save = NULL;
    size_t have = 0;
    add(paths, "", 1);
    for (char *path = strtok_r(paths->at, "\n", &save); path && !have; path = strtok_r(NULL, "\n", &save)) {
        int fd = is_sack(path) ? connect_to(path, SACK_MS) : -1;
        ssize_t n = 1;
        while (fd >= 0 && n > 0 && have < sizeof session && readable(fd, SACK_MS)) {
            n = recv(fd, session + have, sizeof session - have, 0);
            have += n > 0 ? (size_t)n : 0;
        }
        if (fd >= 0)
            close(fd);
    }
    return send_frame('T', session, have);
}

static bool answer(char type, int error, const char *bytes, size_t n)
{
    struct bytes out = {0};
    char code[4] = {(char)(error >> 24), (char)(error >> 16), (char)(error >> 8), (char)error};
    add(&out, code, sizeof code);
    add(&out, bytes, n);
    bool good = send_frame(type, out.at, out.have);
    free(out.at);
    return good;
}

static bool lend_from(int fd, size_t most)
{
    char *bytes = calloc(1, most ? most : 1);
    size_t have = 0;
    ssize_t n = 1;
    if (!bytes)
        return answer('A', ENOMEM, NULL, 0);
    while (have < most && ((n = read(fd, bytes + have, most - have)) > 0 || (n < 0 && errno == EINTR)))
        have += n > 0 ? (size_t)n : 0;
    bool good = n < 0 ? answer('A', errno, NULL, 0) : answer('A', 0, bytes, have);
    free(bytes);
    return good;
}

/* Its terminal's input belongs to another group of processes for now: reading it would stop this one. */
static bool in_background(void)
{
    pid_t foreground = follows_step ? tcgetpgrp(0) : -1;
    return foreground > 0 && foreground != getpgrp();
}

/* Standard input has something, or its end. */
static bool lend_input(void)
{
    char bytes[65536];
    size_t most = input_asked < sizeof bytes ? input_asked : sizeof bytes;
    ssize_t n;
    while ((n = read(0, bytes, most)) < 0 && errno == EINTR)
        continue;
    if (n < 0 && (errno == EAGAIN || (errno == EIO && in_background())))
        return true;
    input_asked = 0;
    if (n < 0)
        return answer('I', errno, NULL, 0);
    add(&taken_input, bytes, (size_t)n);
    taken_bytes += (size_t)n;
    if (follows_step && taken_input.have > 2 * INPUT_KEPT_BYTES) {
        memmove(taken_input.at, taken_input.at + taken_input.have - INPUT_KEPT_BYTES, INPUT_KEPT_BYTES);
        taken_input.have = INPUT_KEPT_BYTES;
    }
    return answer('I', 0, bytes, (size_t)n);
}

static size_t asked(const struct bytes *body)
{
    uint32_t most = body->have >= 4 ? big_endian(body->at) : 0;
    return most > LEND_BYTES_MAX ? LEND_BYTES_MAX : most;
}

static bool is_below(const char *path, const char *directory, size_t length, const char *name)
{
    return *name && !strncmp(path, directory, length) && path[length] == '/' && !strcmp(path + length + 1, name);
}

/* The caller's word, as it is or where the command looks for it: in the working directory, for a script also along
 * PATH. */
static bool means(const char *path, const char *word)
{
    static char here[PATH_MAX];
    const char *places = getenv("PATH");
    if (!strcmp(path, word))
        return true;
    if (*word == '/' || !*word)
        return false;
    if (!*here && !getcwd(here, sizeof here))
        return false;
    if (is_below(path, here, !strcmp(here, "/") ? 0 : strlen(here), word) || is_below(path, "/proc/self/fd", 13, word))
        return true;
    for (const char *at = places; at && *at; at += strcspn(at, ":"), at += *at == ':')
        if (is_below(path, at, strcspn(at, ":"), word))
            return true;
    return false;
}

/* An argument is a path, or has one behind its option's name. */
static bool argument_means(const char *path, const char *argument)
{
    const char *equals = strchr(argument, '=');
    return means(path, argument) || (equals && means(path, equals + 1))
        || (argument[0] == '-' && argument[1] && argument[1] != '-' && means(path, argument + 2));
}

/* What the command itself asks for: its configuration, what the caller's words and environment name, the caller's
 * defaults. */
static bool is_asked_for(const char *path)
{
    char own[PATH_MAX + 32];
    const char *home = getenv("HOME"), *named = getenv("SLURM_CONF");
    snprintf(own, sizeof own, "%s/etc/slurm.conf", launcher.prefix);
    const char *confs[] = {named ? named : "", own, "/run/slurm/conf/slurm.conf", "/etc/slurm/slurm.conf"};
    for (size_t i = 0; i < sizeof confs / sizeof confs[0]; i++) {
        const char *slash = strrchr(confs[i], '/');
        if (!strcmp(path, confs[i])
            || (slash && is_below(path, confs[i], (size_t)(slash - confs[i]), "cli_filter.lua")))
            return true;
    }
    if (home && is_below(path, home, strlen(home), ".slurm/defaults"))
        return true;
    snprintf(own, sizeof own, "/proc/%ld/stat", (long)getpid()); /* the caller's nice value */
    if (!strcmp(path, own))
        return true;
    for (int i = 1; i < launcher.argc; i++)
        if (argument_means(path, launcher.argv[i]))
            return true;
    for (char **e = launcher.environment; *e; e++) {
        const char *equals = strchr(*e, '=');
        if (equals && means(path, equals + 1))
            return true;
    }
    return false;
}

/* Reads a file as the caller: u32 most bytes, path. What the command did not ask for this process reads itself, if need
 * be, on the long path. */
static bool lend_file(struct bytes *body)
{
    size_t most = asked(body);
    add(body, "", 1);
    if (body->have <= 5 || !is_asked_for(body->at + 4))
        return false;
    int fd = body->have > 5 ? open(body->at + 4, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return answer('A', EISDIR, NULL, 0);
    }
    if (fd < 0)
        return answer('A', errno ? errno : ENOENT, NULL, 0);
    bool good = lend_from(fd, most);
    close(fd);
    return good;
}

/* A reader that is gone ends this process by SIGPIPE, as it ends any other program. */
static void put_out(int fd, const char *bytes, size_t length)
{
    size_t done = 0;
    has_output = true;
    while (done < length) {
        ssize_t n = write(fd, bytes + done, length - done);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {fd, POLLOUT, 0};
            poll(&p, 1, -1);
        } else if (n < 0 && errno != EINTR) {
            return;
        }
        done += n > 0 ? (size_t)n : 0;
    }
}

/* Output of a step, and how far that stream has come with it: only both together, or a long path would repeat it. */
static void put_step_out(const struct bytes *body)
{
    if (body->have < POSITION_BYTES)
        return;
    const unsigned char *b = (const unsigned char *)body->at;
    uint32_t task = big_endian(body->at);
    uint64_t offset = (uint64_t)big_endian(body->at + 5) << 32 | big_endian(body->at + 9);
    size_t i = 0;
    put_out(b[13] == 2 ? 2 : 1, body->at + POSITION_BYTES, body->have - POSITION_BYTES);
    while (i < position_count && (positions[i].task != task || positions[i].stream != b[4]))
        i++;
    if (i == position_room) {
        position_room = position_room ? position_room * 2 : 16;
        positions = realloc(positions, position_room * sizeof *positions);
        if (!positions)
            abort();
    }
    if (i == position_count)
        position_count++;
    positions[i] = (struct position){task, b[4], offset};
}

static void remember_checkpoint(const struct bytes *body)
{
    checkpoint.have = 0;
    add(&checkpoint, body->at, body->have);
}

/* A signal that the command does nothing about. */
static void die_by(int number)
{
    sigset_t one;
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    kill(getpid(), number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static int obey(char type, struct bytes *body)
{
    switch (type) {
    case 'H': return CONTINUE;
    case 'S': return lend_session(body) ? CONTINUE : COLD;
    case 'O': put_out(1, body->at, body->have); return CONTINUE;
    case 'E': put_out(2, body->at, body->have); return CONTINUE;
    case 'V': put_step_out(body); return CONTINUE;
    case 'B': remember_checkpoint(body); return CONTINUE;
    case 'D': die_by(body->have == 4 ? (int)big_endian(body->at) : SIGTERM); return CONTINUE;
    case 'R': input_asked = asked(body); return CONTINUE;
    case 'P': return lend_file(body) ? CONTINUE : COLD;
    case 'X': return body->have == 4 ? (int)(big_endian(body->at) & 0xff) : COLD;
    case 'C':
    default: return COLD;
    }
}

/* Puts what was read from standard input back in front of what is still to come. */
static void restore_input(void)
{
    char rest[65536];
    ssize_t n;
    int whole = taken_input.have ? memfd_create("stdin", MFD_CLOEXEC) : -1;
    if (whole < 0)
        return;
    bool good = write(whole, taken_input.at, taken_input.have) == (ssize_t)taken_input.have;
    while (good && ((n = read(0, rest, sizeof rest)) > 0 || (n < 0 && errno == EINTR)))
        good = n < 0 || write(whole, rest, (size_t)n) == n;
    if (lseek(whole, 0, SEEK_SET) == 0)
        dup2(whole, 0);
    close(whole);
}

/* ---- signals: srun's own business, which the service carries out ---- */

static void signals_of_step(sigset_t *set)
{
    static const int ALL[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++)
        sigaddset(set, ALL[i]);
}

static sigset_t callers_mask;

static bool take_signals(void)
{
    sigset_t set;
    signals_of_step(&set);
    sigprocmask(SIG_BLOCK, &set, &callers_mask);
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (isatty(0))
        signal(SIGTTIN, SIG_IGN); /* reading a terminal from its background fails then instead of stopping srun */
    return signals >= 0;
}

static void give_signals_back(void)
{
    if (signals < 0)
        return;
    close(signals);
    signals = -1;
    sigprocmask(SIG_SETMASK, &callers_mask, NULL);
}

static bool pass_signals(void)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == sizeof info) {
        char number[4] = {0, 0, 0, (char)info.ssi_signo};
        if (!send_frame('G', number, sizeof number))
            return false;
    }
    return true;
}

/* ---- the conversation ---- */

static int converse(struct bytes *body)
{
    int rc = CONTINUE;
    char type;
    bool listens = true;
    heard_ms = now_ms();
    while (rc == CONTINUE) {
        bool waits = input_asked && in_background();
        struct pollfd p[3] = {{service, POLLIN, 0},
                              {listens ? signals : -1, POLLIN, 0},
                              {listens && input_asked && !waits ? 0 : -1, POLLIN, 0}};
        int most = patience_ms(), n = poll(p, 3, waits && most > BACKGROUND_MS ? BACKGROUND_MS : most);
        if ((n < 0 && errno == EINTR) || (n == 0 && waits && patience_ms() != 0))
            continue;
        if (n <= 0)
            return COLD;
        if (p[0].revents)
            rc = receive_frame(&type, body) ? obey(type, body) : COLD;
        /* a service that takes nothing any more may have said all that there is to say: that is read to its end */
        if (rc == CONTINUE && p[1].revents && !pass_signals())
            listens = false;
        if (rc == CONTINUE && p[2].revents && input_asked && !lend_input())
            listens = false;
        if (p[0].revents)
            heard_ms = now_ms(); /* what obeying took is not its silence */
    }
    return rc;
}

/* What the long path of srun needs to go on with a step that the service began: the checkpoint, how far each stream has
   come, and the input that may not have arrived. */
bool warm_unfinished(const char **state, size_t *state_bytes, char **progress, const char **input, size_t *input_bytes)
{
    if (!checkpoint.have)
        return false;
    size_t room = 64 + position_count * 64, have;
    *progress = malloc(room);
    if (!*progress)
        abort();
    have = (size_t)snprintf(*progress, room, "input %llu\n", taken_bytes - taken_input.have);
    for (size_t i = 0; i < position_count; i++)
        have += (size_t)snprintf(*progress + have, room - have, "%u %u %llu\n", positions[i].task, positions[i].stream,
                                 (unsigned long long)positions[i].offset);
    *state = checkpoint.at;
    *state_bytes = checkpoint.have;
    *input = taken_input.at;
    *input_bytes = taken_input.have;
    return true;
}

bool warm_run(int *rc)
{
    struct bytes body = {0};
    if (!*launcher.service || !is_warm() || (service = connect_to_service()) < 0)
        return false;
    follows_step = !strcmp(launcher.name, "srun");
    *rc = is_trusted(service) && describe(&body) && (!follows_step || take_signals())
               && send_frame('Q', body.at, body.have)
            ? converse(&body)
            : COLD;
    if (*rc == COLD && follows_step)
        send_frame('L', NULL, 0); /* not the end of the command: it goes on here */
    close(service);
    give_signals_back();
    free(body.at);
    if (*rc == COLD && has_output && !follows_step) {
        fprintf(stderr, "%s: error: the command service ended before the command\n", launcher.name);
        *rc = 1;
    } else if (*rc == COLD && !checkpoint.have) {
        restore_input();
    }
    return *rc != COLD;
}

/*
 * The short path of commands: the command service of this machine carries the command out, this process lends it what
 * is the caller's: descriptors, files, identity, signals. README.md lists the frames. Before the first byte of output
 * anything that goes wrong, also a second of silence, means the long path, with the same request id; after it there is
 * no way back. Except for srun: this process knows how far its step's output has come, and goes on from there by
 * itself.
 */
#define _GNU_SOURCE
#include "launcher.h"
#include "service.h"

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
#define LEND_BYTES_MAX (8u << 20) /* the largest file, or piece of standard input, that the launcher lends */

#define INPUT_KEPT_BYTES (1u << 20) /* more than any node takes ahead of its tasks */
#define POSITION_BYTES 14           /* u32 task, u8 stream, u64 offset, u8 descriptor */

#define BACKGROUND_MS 500 /* how soon input is taken again after its terminal came back */

enum { CONTINUE = -1, COLD = -2 };

static const char *const WARM[] = {
    "squeue", "sinfo",   "sprio",  "sdiag",    "sacct",    "sstat", "sreport",
    "sshare", "scancel", "sbatch", "scontrol", "sacctmgr", "srun",
};

/* Interactive uses stay with the long path; the service sends back whatever else it does not want. */
static bool is_warm(struct launcher *launcher)
{
    for (size_t i = 0; i < sizeof WARM / sizeof WARM[0]; i++)
        if (!strcmp(launcher->name, WARM[i]))
            return launcher->argc > 1 || (strcmp(launcher->name, "scontrol") && strcmp(launcher->name, "sacctmgr"));
    return false;
}

static void append(struct bytes *b, const void *bytes, size_t n)
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

static void put_entry(struct bytes *b, const char *name, const char *value)
{
    char head[64];
    append(b, head, (size_t)snprintf(head, sizeof head, "%s %zu\n", name, strlen(value)));
    append(b, value, strlen(value));
    append(b, "\n", 1);
}

static void put_number(struct bytes *b, const char *name, long long value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", value);
    put_entry(b, name, text);
}

static void put_limits(struct bytes *b)
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
        put_entry(b, "limit", text);
    }
}

static void put_terminals(struct bytes *b)
{
    struct winsize size;
    char text[4] = "000";
    for (int fd = 0; fd < 3; fd++)
        text[fd] = isatty(fd) ? '1' : '0';
    put_entry(b, "tty", text);
    if (ioctl(1, TIOCGWINSZ, &size) == 0) {
        put_number(b, "rows", size.ws_row);
        put_number(b, "columns", size.ws_col);
    }
}

static bool put_caller(struct launcher *launcher, struct bytes *b)
{
    char *directory = getcwd(NULL, 0);
    gid_t groups[1024];
    int count = getgroups(1024, groups);
    if (!directory || count < 0)
        return false;
    put_entry(b, "name", launcher->name);
    put_entry(b, "request_id", launcher->request_id);
    put_entry(b, "cwd", directory);
    free(directory);
    put_number(b, "pid", getpid());
    put_number(b, "uid", getuid());
    put_number(b, "gid", getgid());
    for (int i = 0; i < count; i++)
        put_number(b, "group", groups[i]);
    put_number(b, "umask", launcher->umask);
    put_limits(b);
    put_terminals(b);
    for (int i = 0; i < launcher->argc; i++)
        put_entry(b, "argv", launcher->argv[i]);
    for (char **e = launcher->environment; *e; e++)
        put_entry(b, "env", *e);
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

static bool send_frame(struct launcher *launcher, char type, const char *bytes, size_t n)
{
    uint32_t length = (uint32_t)n + 1;
    char head[5] = {(char)(length >> 24), (char)(length >> 16), (char)(length >> 8), (char)length, type};
    return send_all(launcher->warm.service, head, sizeof head) && send_all(launcher->warm.service, bytes, n);
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
static int patience_ms(struct launcher *launcher)
{
    int silence = launcher->warm.has_output && !launcher->warm.follows_step ? SILENCE_AFTER_OUTPUT_MS
                : launcher->warm.checkpoint.have                            ? SILENCE_OF_STEP_MS
                                                                            : SILENCE_MS;
    long long left = launcher->warm.heard_ms + silence - now_ms();
    return left < 0 ? 0 : (int)left;
}

static bool receive(struct launcher *launcher, char *into, size_t n)
{
    while (n) {
        if (!readable(launcher->warm.service, patience_ms(launcher)))
            return false;
        ssize_t got = recv(launcher->warm.service, into, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        into += got;
        n -= (size_t)got;
        launcher->warm.heard_ms = now_ms();
    }
    return true;
}

static bool receive_frame(struct launcher *launcher, char *type, struct bytes *body)
{
    char head[5];
    if (!receive(launcher, head, sizeof head))
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
    return receive(launcher, body->at, body->have);
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
static bool is_trusted(struct launcher *launcher, int fd)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0
        && (peer.uid == 0
            || (geteuid() != 0 && service_uid_fits(launcher->service_uid) && peer.uid == (uid_t)launcher->service_uid));
}

static int connect_to_service(struct launcher *launcher)
{
    char path[sizeof launcher->service + sizeof SERVICE_OF_ROOT];
    snprintf(path, sizeof path, "%s%s", launcher->service, geteuid() == 0 ? SERVICE_OF_ROOT : "");
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
static bool lend_session(struct launcher *launcher, struct bytes *paths)
{
    char session[SESSION_BYTES_MAX], *save = NULL;
    size_t have = 0;
    append(paths, "", 1);
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
    return send_frame(launcher, 'T', session, have);
}

static bool answer(struct launcher *launcher, char type, int error, const char *bytes, size_t n)
{
    struct bytes out = {0};
    char code[4] = {(char)(error >> 24), (char)(error >> 16), (char)(error >> 8), (char)error};
    append(&out, code, sizeof code);
    append(&out, bytes, n);
    bool good = send_frame(launcher, type, out.at, out.have);
    free(out.at);
    return good;
}

static bool lend_from(struct launcher *launcher, int fd, size_t most)
{
    char *bytes = calloc(1, most ? most : 1);
    size_t have = 0;
    ssize_t n = 1;
    if (!bytes)
        return answer(launcher, 'A', ENOMEM, NULL, 0);
    while (have < most && ((n = read(fd, bytes + have, most - have)) > 0 || (n < 0 && errno == EINTR)))
        have += n > 0 ? (size_t)n : 0;
    bool good = n < 0 ? answer(launcher, 'A', errno, NULL, 0) : answer(launcher, 'A', 0, bytes, have);
    free(bytes);
    return good;
}

/* Its terminal's input belongs to another group of processes for now: reading it would stop this one. */
static bool in_background(struct launcher *launcher)
{
    pid_t foreground = launcher->warm.follows_step ? tcgetpgrp(0) : -1;
    return foreground > 0 && foreground != getpgrp();
}

/* Standard input has something, or its end. */
static bool lend_input(struct launcher *launcher)
{
    char bytes[65536];
    size_t most = launcher->warm.input_asked < sizeof bytes ? launcher->warm.input_asked : sizeof bytes;
    ssize_t n;
    while ((n = read(0, bytes, most)) < 0 && errno == EINTR)
        continue;
    if (n < 0 && (errno == EAGAIN || (errno == EIO && in_background(launcher))))
        return true;
    launcher->warm.input_asked = 0;
    if (n < 0)
        return answer(launcher, 'I', errno, NULL, 0);
    append(&launcher->warm.taken_input, bytes, (size_t)n);
    launcher->warm.taken_bytes += (size_t)n;
    if (launcher->warm.follows_step && launcher->warm.taken_input.have > 2 * INPUT_KEPT_BYTES) {
        memmove(launcher->warm.taken_input.at,
                launcher->warm.taken_input.at + launcher->warm.taken_input.have - INPUT_KEPT_BYTES, INPUT_KEPT_BYTES);
        launcher->warm.taken_input.have = INPUT_KEPT_BYTES;
    }
    return answer(launcher, 'I', 0, bytes, (size_t)n);
}

static size_t requested_size(const struct bytes *body)
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
static bool is_word_of(struct launcher *launcher, const char *path, const char *word)
{
    const char *places = getenv("PATH");
    if (!strcmp(path, word))
        return true;
    if (*word == '/' || !*word)
        return false;
    if (!*launcher->warm.directory && !getcwd(launcher->warm.directory, sizeof launcher->warm.directory))
        return false;
    if (is_below(path, launcher->warm.directory,
                 !strcmp(launcher->warm.directory, "/") ? 0 : strlen(launcher->warm.directory), word)
        || is_below(path, "/proc/self/fd", 13, word))
        return true;
    for (const char *at = places; at && *at; at += strcspn(at, ":"), at += *at == ':')
        if (is_below(path, at, strcspn(at, ":"), word))
            return true;
    return false;
}

/* An argument is a path, or has one behind its option's name. */
static bool is_word_of_argument(struct launcher *launcher, const char *path, const char *argument)
{
    const char *equals = strchr(argument, '=');
    return is_word_of(launcher, path, argument) || (equals && is_word_of(launcher, path, equals + 1))
        || (argument[0] == '-' && argument[1] && argument[1] != '-' && is_word_of(launcher, path, argument + 2));
}

/* What the command itself asks for: its configuration, what the caller's words and environment name, the caller's
 * defaults. */
static bool is_asked_for(struct launcher *launcher, const char *path)
{
    char own[PATH_MAX + 32];
    const char *home = getenv("HOME"), *named = getenv("SLURM_CONF");
    snprintf(own, sizeof own, "%s/etc/slurm.conf", launcher->prefix);
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
    for (int i = 1; i < launcher->argc; i++)
        if (is_word_of_argument(launcher, path, launcher->argv[i]))
            return true;
    for (char **e = launcher->environment; *e; e++) {
        const char *equals = strchr(*e, '=');
        if (equals && is_word_of(launcher, path, equals + 1))
            return true;
    }
    return false;
}

/* Reads a file as the caller: u32 most bytes, path. What the command did not ask for this process reads itself, if need
 * be, on the long path. */
static bool lend_file(struct launcher *launcher, struct bytes *body)
{
    size_t most = requested_size(body);
    append(body, "", 1);
    if (body->have <= 5 || !is_asked_for(launcher, body->at + 4))
        return false;
    int fd = body->have > 5 ? open(body->at + 4, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return answer(launcher, 'A', EISDIR, NULL, 0);
    }
    if (fd < 0)
        return answer(launcher, 'A', errno ? errno : ENOENT, NULL, 0);
    bool good = lend_from(launcher, fd, most);
    close(fd);
    return good;
}

/* A reader that is gone ends this process by SIGPIPE, as it ends any other program. */
static void write_output(struct launcher *launcher, int fd, const char *bytes, size_t length)
{
    size_t done = 0;
    launcher->warm.has_output = true;
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
static void write_step_output(struct launcher *launcher, const struct bytes *body)
{
    if (body->have < POSITION_BYTES)
        return;
    const unsigned char *b = (const unsigned char *)body->at;
    uint32_t task = big_endian(body->at);
    uint64_t offset = (uint64_t)big_endian(body->at + 5) << 32 | big_endian(body->at + 9);
    size_t i = 0;
    write_output(launcher, b[13] == 2 ? 2 : 1, body->at + POSITION_BYTES, body->have - POSITION_BYTES);
    while (i < launcher->warm.position_count
           && (launcher->warm.positions[i].task != task || launcher->warm.positions[i].stream != b[4]))
        i++;
    if (i == launcher->warm.position_room) {
        launcher->warm.position_room = launcher->warm.position_room ? launcher->warm.position_room * 2 : 16;
        launcher->warm.positions =
            realloc(launcher->warm.positions, launcher->warm.position_room * sizeof *launcher->warm.positions);
        if (!launcher->warm.positions)
            abort();
    }
    if (i == launcher->warm.position_count)
        launcher->warm.position_count++;
    launcher->warm.positions[i] = (struct position){task, b[4], offset};
}

static void remember_checkpoint(struct launcher *launcher, const struct bytes *body)
{
    launcher->warm.checkpoint.have = 0;
    append(&launcher->warm.checkpoint, body->at, body->have);
}

/* A signal that the command does nothing about. */
static void die_by(int signal_number)
{
    sigset_t one;
    signal(signal_number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    kill(getpid(), signal_number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static int handle_frame(struct launcher *launcher, char type, struct bytes *body)
{
    switch (type) {
    case 'H': return CONTINUE;
    case 'S': return lend_session(launcher, body) ? CONTINUE : COLD;
    case 'O': write_output(launcher, 1, body->at, body->have); return CONTINUE;
    case 'E': write_output(launcher, 2, body->at, body->have); return CONTINUE;
    case 'V': write_step_output(launcher, body); return CONTINUE;
    case 'B': remember_checkpoint(launcher, body); return CONTINUE;
    case 'D': die_by(body->have == 4 ? (int)big_endian(body->at) : SIGTERM); return CONTINUE;
    case 'R': launcher->warm.input_asked = requested_size(body); return CONTINUE;
    case 'P': return lend_file(launcher, body) ? CONTINUE : COLD;
    case 'X': return body->have == 4 ? (int)(big_endian(body->at) & 0xff) : COLD;
    case 'C':
    default: return COLD;
    }
}

/* Puts what was read from standard input back in front of what is still to come. */
static void restore_input(struct launcher *launcher)
{
    char rest[65536];
    ssize_t n;
    int whole = launcher->warm.taken_input.have ? memfd_create("stdin", MFD_CLOEXEC) : -1;
    if (whole < 0)
        return;
    bool good = write(whole, launcher->warm.taken_input.at, launcher->warm.taken_input.have)
             == (ssize_t)launcher->warm.taken_input.have;
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

static bool take_signals(struct launcher *launcher)
{
    sigset_t set;
    signals_of_step(&set);
    sigprocmask(SIG_BLOCK, &set, &launcher->warm.callers_mask);
    launcher->warm.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (isatty(0))
        signal(SIGTTIN, SIG_IGN); /* reading a terminal from its background fails then instead of stopping srun */
    return launcher->warm.signals >= 0;
}

static void give_signals_back(struct launcher *launcher)
{
    if (launcher->warm.signals < 0)
        return;
    close(launcher->warm.signals);
    launcher->warm.signals = -1;
    sigprocmask(SIG_SETMASK, &launcher->warm.callers_mask, NULL);
}

static bool pass_signals(struct launcher *launcher)
{
    struct signalfd_siginfo info;
    while (read(launcher->warm.signals, &info, sizeof info) == sizeof info) {
        char signal_number[4] = {0, 0, 0, (char)info.ssi_signo};
        if (!send_frame(launcher, 'G', signal_number, sizeof signal_number))
            return false;
    }
    return true;
}

/* ---- the conversation ---- */

static int run_conversation(struct launcher *launcher, struct bytes *body)
{
    int rc = CONTINUE;
    char type;
    bool listens = true;
    launcher->warm.heard_ms = now_ms();
    while (rc == CONTINUE) {
        bool waits = launcher->warm.input_asked && in_background(launcher);
        struct pollfd p[3] = {{launcher->warm.service, POLLIN, 0},
                              {listens ? launcher->warm.signals : -1, POLLIN, 0},
                              {listens && launcher->warm.input_asked && !waits ? 0 : -1, POLLIN, 0}};
        int most = patience_ms(launcher), n = poll(p, 3, waits && most > BACKGROUND_MS ? BACKGROUND_MS : most);
        if ((n < 0 && errno == EINTR) || (n == 0 && waits && patience_ms(launcher) != 0))
            continue;
        if (n <= 0)
            return COLD;
        if (p[0].revents)
            rc = receive_frame(launcher, &type, body) ? handle_frame(launcher, type, body) : COLD;
        /* a service that takes nothing any more may have said all that there is to say: that is read to its end */
        if (rc == CONTINUE && p[1].revents && !pass_signals(launcher))
            listens = false;
        if (rc == CONTINUE && p[2].revents && launcher->warm.input_asked && !lend_input(launcher))
            listens = false;
        if (p[0].revents)
            launcher->warm.heard_ms = now_ms(); /* what obeying took is not its silence */
    }
    return rc;
}

/* What the long path of srun needs to go on with a step that the service began: the checkpoint, how far each stream has
   come, and the input that may not have arrived. */
bool warm_unfinished(struct launcher *launcher, const char **state, size_t *state_bytes, char **progress,
                     const char **input, size_t *input_bytes)
{
    if (!launcher->warm.checkpoint.have)
        return false;
    size_t room = 64 + launcher->warm.position_count * 64, have;
    *progress = malloc(room);
    if (!*progress)
        abort();
    have =
        (size_t)snprintf(*progress, room, "input %llu\n", launcher->warm.taken_bytes - launcher->warm.taken_input.have);
    for (size_t i = 0; i < launcher->warm.position_count; i++)
        have += (size_t)snprintf(*progress + have, room - have, "%u %u %llu\n", launcher->warm.positions[i].task,
                                 launcher->warm.positions[i].stream,
                                 (unsigned long long)launcher->warm.positions[i].offset);
    *state = launcher->warm.checkpoint.at;
    *state_bytes = launcher->warm.checkpoint.have;
    *input = launcher->warm.taken_input.at;
    *input_bytes = launcher->warm.taken_input.have;
    return true;
}

bool warm_run(struct launcher *launcher, int *rc)
{
    struct bytes body = {0};
    if (!*launcher->service || !is_warm(launcher) || (launcher->warm.service = connect_to_service(launcher)) < 0)
        return false;
    launcher->warm.follows_step = !strcmp(launcher->name, "srun");
    *rc = is_trusted(launcher, launcher->warm.service) && put_caller(launcher, &body)
               && (!launcher->warm.follows_step || take_signals(launcher))
               && send_frame(launcher, 'Q', body.at, body.have)
            ? run_conversation(launcher, &body)
            : COLD;
    if (*rc == COLD && launcher->warm.follows_step)
        send_frame(launcher, 'L', NULL, 0); /* not the end of the command: it goes on here */
    close(launcher->warm.service);
    give_signals_back(launcher);
    free(body.at);
    if (*rc == COLD && launcher->warm.has_output && !launcher->warm.follows_step) {
        fprintf(stderr, "%s: error: the command service ended before the command\n", launcher->name);
        *rc = 1;
    } else if (*rc == COLD && !launcher->warm.checkpoint.have) {
        restore_input(launcher);
    }
    return *rc != COLD;
}

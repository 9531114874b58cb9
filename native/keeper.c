/*
 * `muster-commands keep`: starts the command services that are not there, again when one ends, and stays connected with
 * the frame D, which is what a service lives by. The daemon starts it before it becomes SlurmUser: a service needs
 * root, which the daemon no longer is then. It holds two ends of the daemon. Standard input is a socket: its first byte
 * says that the daemon serves, its end that the daemon is gone. Standard error is a pipe for lines of the daemon's log.
 */
#define _GNU_SOURCE
#include "keeper.h"
#include "launcher.h"
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP "keep"
#define PAUSE_MS 1000
#define LOOK_MS 100
#define START_WAIT_MS 10000
#define ERRORS_BYTES 16384
#define LINKS 2 /* the service of users, and root's */
#define DESCRIPTORS_WITHOUT_CLOSE_RANGE 65536 /* kernels before 5.11 */

static char *const ENVIRONMENT[] = {"PATH=/usr/bin:/bin:/usr/sbin:/sbin", NULL};

/* ---- in the daemon ---- */

static void close_all_above(int least)
{
    if (syscall(SYS_close_range, (unsigned)least, ~0u, 0) < 0)
        for (int fd = least; fd < DESCRIPTORS_WITHOUT_CLOSE_RANGE; fd++)
            close(fd);
}

static void default_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Child: the program with these three descriptors and no other, and with nothing of the caller's environment. */
static void run_program(struct launcher *launcher, const char *mode, int in, int out, int error)
{
    char path[PATH_MAX + 32], *argv[] = {path, (char *)mode, NULL};
    int standard[3] = {fcntl(in, F_DUPFD, 3), fcntl(out, F_DUPFD, 3), fcntl(error, F_DUPFD, 3)};
    snprintf(path, sizeof path, "%s/sbin/%s", launcher->prefix, SERVICE_NAME);
    for (int fd = 0; fd < 3; fd++)
        if (standard[fd] < 0 || dup2(standard[fd], fd) < 0)
            _exit(127);
    close_all_above(3);
    default_signals();
    if (chdir("/") == 0)
        execve(path, argv, ENVIRONMENT);
    _exit(127);
}

/* An orphan in a session of its own: a signal from the daemon's terminal is not its end. */
void keeper_start(struct launcher *launcher)
{
    int order[2], report[2], null;
    if (!*launcher->service || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, order) < 0)
        return;
    if (pipe2(report, O_CLOEXEC) < 0) {
        close(order[0]);
        close(order[1]);
        return;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (setsid() < 0 || fork() != 0)
            _exit(0);
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        run_program(launcher, KEEP, order[0], null, report[1]);
    }
    close(order[0]);
    close(report[1]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    launcher->keeper_order = order[1];
    launcher->keeper_report = report[0];
}

void keeper_begin(struct launcher *launcher)
{
    if (launcher->keeper_order < 0 || launcher->keeper_began)
        return;
    launcher->keeper_began = true;
    /* a keeper that is gone is no reason for a signal */
    ssize_t ignored = send(launcher->keeper_order, "\n", 1, MSG_NOSIGNAL);
    (void)ignored;
}

/* Waits. 0 or less: there is nothing more to come. */
ssize_t keeper_report(struct launcher *launcher, char *text, size_t room)
{
    ssize_t n = -1;
    while (launcher->keeper_report >= 0 && (n = read(launcher->keeper_report, text, room)) < 0 && errno == EINTR)
        continue;
    return n;
}

/* ---- in the keeper ---- */

struct link {
    struct sockaddr_un address;
    const char *mode;
    bool starts; /* this process may start it */
    int fd;      /* connected */
    pid_t pid;   /* its process, where this one has started it */
    bool starting;
    int errors; /* what its process prints */
    long long due_ms, until_ms;
    bool complained;
};

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One line of the daemon's log; the first byte is its level. */
static void say(char level, const char *text)
{
    char line[4096];
    int n = snprintf(line, sizeof line - 1, "%c%s", level, text);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    for (size_t i = 0; i < length; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    line[length++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, length);
    (void)ignored;
}

static bool connect_link(struct link *l)
{
    static const char DAEMON_FRAME[] = {0, 0, 0, 1, 'D'};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&l->address, sizeof l->address) == 0
        && write(fd, DAEMON_FRAME, sizeof DAEMON_FRAME) == sizeof DAEMON_FRAME) {
        l->fd = fd;
        l->starting = false;
        return true;
    }
    if (fd >= 0)
        close(fd);
    return false;
}

/*
 * For the standard error of a service: memory of a fixed size. A service outlives its keeper, and would be killed by a
 * pipe without a reader; a file could grow.
 */
static int bounded_memory(void)
{
    int fd = memfd_create(SERVICE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, ERRORS_BYTES) == 0
        && fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static void start_service(struct launcher *launcher, struct link *l)
{
    if (l->errors >= 0)
        close(l->errors);
    l->errors = bounded_memory();
    l->pid = fork();
    if (l->pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        run_program(launcher, l->mode, null, null, l->errors);
    }
    l->starting = l->pid > 0;
    say('v', "command service started");
}

/* The program's lock decides which of a host's keepers starts the service; the others wait for it. */
static void look(struct launcher *launcher, struct link *l, long long now)
{
    if (l->fd >= 0 || now < l->due_ms)
        return;
    if (connect_link(l)) {
        l->until_ms = 0;
        return;
    }
    l->due_ms = now + (l->starts ? LOOK_MS : PAUSE_MS);
    if (l->starts && l->until_ms == 0) {
        start_service(launcher, l);
        l->until_ms = now + START_WAIT_MS;
    } else if (l->starts && now >= l->until_ms) {
        l->until_ms = 0;
        l->due_ms = now + PAUSE_MS;
    }
}

static void lose(struct link *l, long long now)
{
    char ignored[64];
    ssize_t n = read(l->fd, ignored, sizeof ignored);
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    close(l->fd);
    l->fd = -1;
    l->due_ms = now + PAUSE_MS;
}

/* Once: without the service commands only take longer. */
static void complain(struct link *l)
{
    char text[2048], line[sizeof text + 128];
    ssize_t n = l->errors < 0 ? 0 : pread(l->errors, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    for (size_t length = strlen(text); length && (text[length - 1] == '\n' || text[length - 1] == ' '); length--)
        text[length - 1] = 0;
    if (l->complained || !*text || strstr(text, "cannot lock"))
        return;
    l->complained = true;
    snprintf(line, sizeof line, "commands are slower than they could be, the command service does not start: %s", text);
    say('i', line);
}

static void reap(struct link *links, int count)
{
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
        for (int i = 0; i < count; i++)
            if (links[i].pid == pid) {
                links[i].pid = 0;
                if (links[i].starting)
                    complain(&links[i]);
                links[i].starting = false;
            }
}

static int wait_ms(const struct link *links, int count, long long now)
{
    long long least = PAUSE_MS;
    bool idle = true;
    for (int i = 0; i < count; i++) {
        idle &= links[i].fd >= 0;
        if (links[i].fd < 0 && links[i].due_ms - now < least)
            least = links[i].due_ms - now;
    }
    return idle ? -1 : least < 0 ? 0 : (int)least;
}

/* Returns when the daemon is gone. */
static void keep(struct launcher *launcher, struct link *links, int count)
{
    while (true) {
        struct pollfd fds[1 + LINKS] = {{.fd = 0, .events = POLLIN}};
        long long now = now_ms();
        reap(links, count);
        for (int i = 0; i < count; i++) {
            look(launcher, &links[i], now);
            fds[1 + i] = (struct pollfd){.fd = links[i].fd, .events = POLLIN};
        }
        if (poll(fds, (nfds_t)(1 + count), wait_ms(links, count, now)) < 0 && errno != EINTR)
            return;
        char ignored;
        if (fds[0].revents && read(0, &ignored, 1) == 0)
            return;
        now = now_ms();
        for (int i = 0; i < count; i++)
            if (fds[1 + i].revents)
                lose(&links[i], now);
    }
}

static void make_link(struct launcher *launcher, struct link *l, bool of_root)
{
    *l = (struct link){.fd = -1, .errors = -1, .mode = of_root ? "root" : "users"};
    l->address.sun_family = AF_UNIX;
    snprintf(l->address.sun_path, sizeof l->address.sun_path, "%s%s", launcher->service,
             of_root ? SERVICE_OF_ROOT : "");
    l->starts = geteuid() == 0 || (long)geteuid() == launcher->service_uid;
}

int keeper_run(struct launcher *launcher)
{
    static struct link links[LINKS];
    char begin;
    ssize_t n;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    fcntl(STDERR_FILENO, F_SETFL, O_WRONLY | O_NONBLOCK);
    while ((n = read(0, &begin, 1)) < 0 && errno == EINTR)
        continue;
    if (n != 1 || !*launcher->service)
        return 0;
    int count = geteuid() == 0 ? LINKS : 1;
    for (int i = 0; i < count; i++)
        make_link(launcher, &links[i], i == 1);
    keep(launcher, links, count);
    return 0;
}

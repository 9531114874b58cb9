/* The launch specification: entries "name length\n<bytes>\n"; README.md lists the names. */
#define _GNU_SOURCE
#include "spec.h"
#include "step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    int resource;
} LIMITS[] = {
    {"CPU", RLIMIT_CPU},         {"FSIZE", RLIMIT_FSIZE}, {"DATA", RLIMIT_DATA},   {"STACK", RLIMIT_STACK},
    {"CORE", RLIMIT_CORE},       {"RSS", RLIMIT_RSS},     {"NPROC", RLIMIT_NPROC}, {"NOFILE", RLIMIT_NOFILE},
    {"MEMLOCK", RLIMIT_MEMLOCK}, {"AS", RLIMIT_AS},
};

static char *read_whole(const char *path, size_t *length, char *error, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        snprintf(error, room, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    if (st.st_uid != geteuid() || (st.st_mode & 022) || st.st_size < 0 || st.st_size > SPEC_BYTES_MAX) {
        snprintf(error, room, "%s is not a launch specification of this daemon", path);
        close(fd);
        return NULL;
    }
    char *text = malloc((size_t)st.st_size + 1);
    size_t have = 0;
    while (text && have < (size_t)st.st_size) {
        ssize_t n = read(fd, text + have, (size_t)st.st_size - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        have += (size_t)n;
    }
    close(fd);
    if (!text || have != (size_t)st.st_size) {
        snprintf(error, room, "cannot read %s", path);
        free(text);
        return NULL;
    }
    text[have] = 0;
    *length = have;
    return text;
}

static bool number(const char *text, long long low, long long high, long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && *text && !*end && *value >= low && *value <= high;
}

static bool limit_value(const char *text, rlim_t *value)
{
    if (!strcmp(text, "unlimited")) {
        *value = RLIM_INFINITY;
        return true;
    }
    long long n;
    if (!number(text, 0, INT64_MAX, &n))
        return false;
    *value = (rlim_t)n;
    return true;
}

static bool parse_limit(struct step *step, char *text)
{
    char *save = NULL;
    const char *name = strtok_r(text, " ", &save), *soft = strtok_r(NULL, " ", &save),
               *hard = strtok_r(NULL, " ", &save);
    if (!name || !soft || step->spec.limit_count >= sizeof step->spec.limits / sizeof step->spec.limits[0])
        return false;
    for (size_t i = 0; i < sizeof LIMITS / sizeof LIMITS[0]; i++) {
        if (strcmp(LIMITS[i].name, name))
            continue;
        struct limit *limit = &step->spec.limits[step->spec.limit_count++];
        limit->resource = LIMITS[i].resource;
        limit->name = LIMITS[i].name;
        limit->has_hard = hard != NULL;
        return limit_value(soft, &limit->soft) && (!hard || limit_value(hard, &limit->hard));
    }
    return false;
}

static bool parse_groups(struct step *step, char *text)
{
    size_t room = strlen(text) / 2 + 1;
    free(step->spec.groups); /* the last entry of several counts */
    step->spec.group_count = 0;
    step->spec.groups = calloc(room, sizeof(gid_t));
    if (!step->spec.groups)
        abort();
    char *save = NULL;
    for (char *g = strtok_r(text, ",", &save); g; g = strtok_r(NULL, ",", &save)) {
        long long n;
        if (!number(g, 0, UINT32_MAX - 1LL, &n))
            return false;
        step->spec.groups[step->spec.group_count++] = (gid_t)n;
    }
    return true;
}

/* "stream", "null", "pty", "same", or "file FLAGS PATH" with FLAGS of r (read), t (truncate), a (append), T, A
 * (labelled). */
static bool parse_target(char *text, struct target *target)
{
    static const struct {
        const char *name;
        enum target_kind kind;
    } WORDS[] = {
        {"stream", TARGET_STREAM},
        {"null", TARGET_NULL},
        {"pty", TARGET_PTY},
        {"same", TARGET_SAME},
    };
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        if (!strcmp(text, WORDS[i].name)) {
            target->kind = WORDS[i].kind;
            return true;
        }
    if (strncmp(text, "file ", 5) || !text[5] || text[6] != ' ' || !text[7])
        return false;
    target->kind = TARGET_FILE;
    target->path = text + 7;
    target->labelled = text[5] == 'T' || text[5] == 'A';
    switch (text[5]) {
    case 'r': target->flags = O_RDONLY; return true;
    case 't':
    case 'T': target->flags = O_WRONLY | O_CREAT | O_TRUNC; return true;
    case 'a':
    case 'A': target->flags = O_WRONLY | O_CREAT | O_APPEND; return true;
    default: return false;
    }
}

static struct task *new_task(struct step *step, const char *text)
{
    long long id;
    if (!number(text, 0, UINT32_MAX - 1LL, &id) || step->spec.task_count >= TASKS_MAX)
        return NULL;
    if ((step->spec.task_count & (step->spec.task_count - 1)) == 0) {
        size_t room = step->spec.task_count ? step->spec.task_count * 2 : 1;
        struct task *grown = realloc(step->spec.tasks, room * sizeof(struct task));
        if (!grown)
            abort();
        step->spec.tasks = grown;
    }
    struct task *task = &step->spec.tasks[step->spec.task_count++];
    memset(task, 0, sizeof *task);
    task->id = (uint32_t)id;
    task->cpus = task->label = task->memory = "";
    task->pmi_fd = task->ready_fd = task->message_fd = task->in.fd = task->out[0].fd = task->out[1].fd = -1;
    task->out[0].sink = task->out[1].sink = -1;
    return task;
}

static bool task_entry(struct task *task, const char *name, char *value)
{
    if (!strcmp(name, "argv"))
        strings_add(&task->argv, value);
    else if (!strcmp(name, "env"))
        strings_add(&task->env, value);
    else if (!strcmp(name, "cgroup"))
        strings_add(&task->cgroups, value);
    else if (!strcmp(name, "program"))
        task->program = value;
    else if (!strcmp(name, "cpus"))
        task->cpus = value;
    else if (!strcmp(name, "label"))
        task->label = value;
    else if (!strcmp(name, "memory"))
        task->memory = value;
    else if (!strcmp(name, "said"))
        strings_add(&task->binding_lines, value);
    else if (!strcmp(name, "remark"))
        strings_add(&task->remarks, value);
    else if (!strcmp(name, "failing"))
        strings_add(&task->failing, value);
    else if (!strcmp(name, "stdin"))
        return parse_target(value, &task->target[0]);
    else if (!strcmp(name, "stdout"))
        return parse_target(value, &task->target[1]);
    else if (!strcmp(name, "stderr"))
        return parse_target(value, &task->target[2]);
    else
        return false;
    return true;
}

static bool word_entry(struct step *step, const char *name, char *value)
{
    const struct {
        const char *name;
        const char **where;
    } words[] = {
        {"job", &step->spec.job},
        {"step", &step->spec.step},
        {"attempt", &step->spec.attempt},
        {"node", &step->spec.node},
        {"user", &step->spec.user},
        {"cwd", &step->spec.cwd},
        {"socket", &step->spec.socket_path},
        {"log_time", &step->spec.log_time},
        {"debug_says", &step->spec.debug_says},
        {"oom_events", &step->spec.oom_events},
        {"namespace", &step->spec.namespace},
        {"mpi_helper", &step->spec.mpi_helper},
        {"mpi_socket", &step->spec.mpi_socket},
        {"channel", &step->spec.channel},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(name, words[i].name)) {
            *words[i].where = value;
            return true;
        }
    const struct {
        const char *name;
        struct strings *where;
    } lists[] = {
        {"argv", &step->spec.argv},
        {"env", &step->spec.env},
        {"cgroup", &step->spec.cgroups},
        {"own_cgroup", &step->spec.own_cgroups},
        {"kill_cgroup", &step->spec.kill_cgroups},
        {"task_prolog", &step->spec.prologs},
        {"task_epilog", &step->spec.epilogs},
        {"user_task_prolog", &step->spec.user_prologs},
        {"user_task_epilog", &step->spec.user_epilogs},
        {"mpi", &step->spec.mpi},
        {"mpi_directory", &step->spec.mpi_directories},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (!strcmp(name, lists[i].name)) {
            strings_add(lists[i].where, value);
            return true;
        }
    return false;
}

static bool number_entry(struct step *step, const char *name, const char *value, bool *known)
{
    static const struct {
        const char *name;
        long long low, high;
    } NUMBERS[] = {
        {"uid", 0, UINT32_MAX - 1LL},
        {"gid", 0, UINT32_MAX - 1LL},
        {"allow_uid", 0, UINT32_MAX - 1LL},
        {"nice", -20, 19},
        {"oom_score_adj", -1000, 1000},
        {"rows", 0, 65535},
        {"columns", 0, 65535},
        {"external", 0, 1},
        {"batch", 0, 1},
        {"oom_kill_step", 0, 1},
        {"pam", 0, 1},
        {"pgid", 0, 1},
        {"wait_children", 0, 1},
        {"debug", 0, 9},
        {"await_caller", 0, 1},
        {"kill_on_bad_exit", 0, 1},
        {"lingers", 0, 1},
    };
    long long n = 0;
    size_t i = 0;
    while (i < sizeof NUMBERS / sizeof NUMBERS[0] && strcmp(NUMBERS[i].name, name))
        i++;
    *known = i < sizeof NUMBERS / sizeof NUMBERS[0];
    if (!*known || !number(value, NUMBERS[i].low, NUMBERS[i].high, &n))
        return false;
    switch (i) {
    case 0: step->spec.uid = (uid_t)n; break;
    case 1: step->spec.gid = (gid_t)n; break;
    case 2: step->spec.allowed_uid = (uid_t)n; break;
    case 3:
        step->spec.nice = (int)n;
        step->spec.has_nice = true;
        break;
    case 4:
        step->spec.oom_score_adj = (int)n;
        step->spec.has_oom = true;
        break;
    case 5: step->spec.rows = (int)n; break;
    case 6: step->spec.columns = (int)n; break;
    case 7: step->spec.external = n != 0; break;
    case 8: step->spec.is_batch = n != 0; break;
    case 9: step->spec.oom_kill_step = n != 0; break;
    case 10: step->spec.pam = n != 0; break;
    case 11: step->spec.by_group = n != 0; break;
    case 12: step->spec.wait_children = n != 0; break;
    case 13: step->spec.debug = (int)n; break;
    case 14: step->spec.await_caller = n != 0; break;
    case 15: step->spec.kill_on_bad_exit = n != 0; break;
    default: step->spec.lingers = n != 0; break;
    }
    return true;
}

static bool mask_entry(struct step *step, const char *value)
{
    char *end;
    step->spec.umask = (mode_t)strtol(value, &end, 8);
    return *value && !*end && step->spec.umask <= 0777;
}

static bool entry(struct step *step, struct task **current, const char *name, char *value)
{
    bool known;
    if (!strcmp(name, "task"))
        return (*current = new_task(step, value)) != NULL;
    if (*current)
        return task_entry(*current, name, value);
    if (!strcmp(name, "rlimit"))
        return parse_limit(step, value);
    if (!strcmp(name, "groups"))
        return parse_groups(step, value);
    if (!strcmp(name, "umask"))
        return mask_entry(step, value);
    bool good = number_entry(step, name, value, &known);
    return known ? good : word_entry(step, name, value);
}

static bool check(struct step *step, char *error, size_t room)
{
    if (!step->spec.job || !step->spec.step || !step->spec.attempt || step->spec.uid == (uid_t)-1
        || step->spec.gid == (gid_t)-1) {
        snprintf(error, room, "the launch specification lacks job, step, attempt, uid or gid");
        return false;
    }
    if (geteuid() != 0 && step->spec.uid != geteuid()) {
        snprintf(error, room, "uid %u cannot run a task of uid %u", (unsigned)geteuid(), (unsigned)step->spec.uid);
        return false;
    }
    if (!step->spec.task_count && !step->spec.external) {
        snprintf(error, room, "the launch specification has no task");
        return false;
    }
    if (step->spec.mpi.count && !step->spec.mpi_helper) {
        snprintf(error, room, "the launch specification lacks mpi_helper");
        return false;
    }
    for (size_t i = 0; i < step->spec.task_count; i++) {
        struct task *task = &step->spec.tasks[i];
        if (!task->argv.count && !step->spec.argv.count) {
            snprintf(error, room, "task %u has no arguments", task->id);
            return false;
        }
        if (task->target[0].labelled) {
            snprintf(error, room, "stdin cannot be labelled");
            return false;
        }
        if (task->target[0].kind == TARGET_SAME || task->target[1].kind == TARGET_SAME) {
            snprintf(error, room, "only stderr can be the same as stdout");
            return false;
        }
    }
    return true;
}

/* Takes and checks a specification; `text` has room for a NUL behind it and must live as long as the process. */
bool spec_parse(struct step *step, char *text, size_t length, char *error, size_t error_room)
{
    char *at = text, *end = text + length;
    text[length] = 0;
    step->spec.uid = (uid_t)-1;
    step->spec.gid = (gid_t)-1;
    step->spec.allowed_uid = geteuid();
    step->spec.umask = 022;
    step->spec.cwd = "/";
    step->spec.node = step->spec.user = "";
    step->spec.log_time = "";
    struct task *current = NULL;
    while (at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at)), *space = memchr(at, ' ', (size_t)(end - at));
        long long size;
        if (!newline || !space || space > newline)
            goto malformed;
        *newline = *space = 0;
        char *value = newline + 1;
        if (!number(space + 1, 0, end - value, &size) || value + size >= end || value[size] != '\n')
            goto malformed;
        value[size] = 0;
        if (memchr(value, 0, (size_t)size) || !entry(step, &current, at, value)) {
            snprintf(error, error_room, "bad entry \"%.64s\" in the launch specification", at);
            return false;
        }
        at = value + size + 1;
    }
    return check(step, error, error_room);
malformed:
    snprintf(error, error_room, "the launch specification is malformed at byte %zd", at - text);
    return false;
}

/* The specification's strings point into the file's text, which lives as long as the process. */
bool spec_read(struct step *step, const char *path, char *error, size_t error_room)
{
    size_t length;
    char *text = read_whole(path, &length, error, error_room);
    bool good = text && spec_parse(step, text, length, error, error_room);
    if (!good)
        free(text);
    return good;
}

/* The native methods that a class "Native" beside a Main may declare: any subset of the table below. */
#define _GNU_SOURCE
#include "natives.h"
#include "identity.h"
#include "keeper.h"
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

#define EXCHANGE_MS 5000
#define DESCRIPTORS_WITHOUT_CLOSE_RANGE 65536 /* kernels before 5.11 */
#define EXCHANGE_BYTES_MAX (16u << 20)

/* The Java machine calls without a context: it is the process's. */
static struct launcher *process;

static jobjectArray byte_strings(JNIEnv *env, char **items, int from)
{
    int count = 0;
    while (items[from + count])
        count++;
    jclass bytes = (*env)->FindClass(env, "[B");
    jobjectArray out = bytes ? (*env)->NewObjectArray(env, count, bytes, NULL) : NULL;
    for (int i = 0; out && i < count; i++) {
        jsize length = (jsize)strlen(items[from + i]);
        jbyteArray one = (*env)->NewByteArray(env, length);
        if (!one)
            return NULL;
        (*env)->SetByteArrayRegion(env, one, 0, length, (const jbyte *)items[from + i]);
        (*env)->SetObjectArrayElement(env, out, i, one);
        (*env)->DeleteLocalRef(env, one);
    }
    return out;
}

static jobjectArray JNICALL native_argv(JNIEnv *env, jclass c)
{
    (void)c;
    return byte_strings(env, process->argv, 0);
}

static jobjectArray JNICALL native_environ(JNIEnv *env, jclass c)
{
    (void)c;
    return byte_strings(env, process->environment, 0);
}

static jint JNICALL native_umask(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return (jint)process->umask;
}

static char *copy_bytes(JNIEnv *env, jbyteArray array, size_t *length)
{
    *length = (size_t)(*env)->GetArrayLength(env, array);
    char *copy = malloc(*length + 1);
    if (copy) {
        (*env)->GetByteArrayRegion(env, array, 0, (jsize)*length, (jbyte *)copy);
        copy[*length] = 0;
    }
    return copy;
}

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool wait_for(int fd, short events, long long until_ms)
{
    long long left;
    while ((left = until_ms - now_ms()) > 0) {
        struct pollfd p = {fd, events, 0};
        int n = poll(&p, 1, (int)left);
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return false;
    }
    return false;
}

/* Sends the request and reads the answer to its end. NULL when there is none in time. */
static char *exchange(int fd, const char *request, size_t length, size_t *answer_length)
{
    long long until = now_ms() + EXCHANGE_MS;
    while (length) {
        ssize_t n = wait_for(fd, POLLOUT, until) ? send(fd, request, length, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
        if (n < 0 && (errno == EAGAIN || errno == EINTR) && now_ms() < until)
            continue;
        if (n <= 0)
            return NULL;
        request += n;
        length -= (size_t)n;
    }
    shutdown(fd, SHUT_WR);
    size_t room = 4096, have = 0;
    char *answer = malloc(room);
    while (answer && wait_for(fd, POLLIN, until)) {
        if (have == room) {
            char *grown = room < EXCHANGE_BYTES_MAX ? realloc(answer, room *= 2) : NULL;
            if (!grown)
                break;
            answer = grown;
        }
        ssize_t n = recv(fd, answer + have, room - have, MSG_DONTWAIT);
        if (n == 0) {
            *answer_length = have;
            return answer;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            break;
        have += n > 0 ? (size_t)n : 0;
    }
    free(answer);
    return NULL;
}

/* byte[] exchangeUnix(String path, byte[] request): null when there was no answer within 5 seconds. */
static jbyteArray JNICALL native_exchange(JNIEnv *env, jclass c, jstring path, jbyteArray request)
{
    (void)c;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *text = (*env)->GetStringUTFChars(env, path, NULL);
    bool fits = text && strlen(text) < sizeof address.sun_path;
    if (fits)
        strcpy(address.sun_path, text);
    if (text)
        (*env)->ReleaseStringUTFChars(env, path, text);
    size_t length = 0, answer_length = 0;
    char *bytes = fits ? copy_bytes(env, request, &length) : NULL, *answer = NULL;
    int fd = bytes ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    struct timeval bound = {EXCHANGE_MS / 1000, 0}; /* connect waits while the listener's queue is full */
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        answer = exchange(fd, bytes, length, &answer_length);
    if (fd >= 0)
        close(fd);
    free(bytes);
    jbyteArray out = answer ? (*env)->NewByteArray(env, (jsize)answer_length) : NULL;
    if (out)
        (*env)->SetByteArrayRegion(env, out, 0, (jsize)answer_length, (const jbyte *)answer);
    free(answer);
    return out;
}

/* Tells the waiting parent; a daemon that serves lets go of the terminal it was started from. */
void natives_ready(struct launcher *launcher, int rc)
{
    unsigned char byte = (unsigned char)rc;
    launcher_serves(launcher);
    if (rc == 0)
        keeper_begin(launcher);
    if (launcher->ready_fd < 0)
        return;
    ssize_t ignored = write(launcher->ready_fd, &byte, 1);
    (void)ignored;
    close(launcher->ready_fd);
    launcher->ready_fd = -1;
    if (rc != 0)
        return;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && null >= 0; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
}

static void JNICALL native_ready(JNIEnv *env, jclass c, jint rc)
{
    (void)env;
    (void)c;
    natives_ready(process, rc);
}

static jboolean JNICALL native_foreground(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return process->ready_fd < 0;
}

/* Pages are locked as they come into use: what is only reserved stays so. */
static jint JNICALL native_lock_memory(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0 ? 0 : errno;
}

static jint JNICALL native_chdir(JNIEnv *env, jclass c, jbyteArray path)
{
    (void)c;
    size_t length;
    char *text = copy_bytes(env, path, &length);
    int error = text && chdir(text) == 0 ? 0 : errno;
    free(text);
    return error;
}

static void JNICALL native_exit_by_signal(JNIEnv *env, jclass c, jint number)
{
    (void)env;
    (void)c;
    sigset_t one;
    signal(number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    kill(getpid(), number);
    usleep(100000); /* another thread may be the one that takes it */
    _exit(128 + number);
}

static jint JNICALL native_kill(JNIEnv *env, jclass c, jint pid, jint number)
{
    (void)env;
    (void)c;
    return kill(pid, number) == 0 ? 0 : errno;
}

static jboolean JNICALL native_is_terminal(JNIEnv *env, jclass c, jint fd)
{
    (void)env;
    (void)c;
    return isatty(fd) != 0;
}

static jint JNICALL native_uid(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return (jint)getuid();
}

static jint JNICALL native_gid(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return (jint)getgid();
}

static jstring JNICALL native_request_id(JNIEnv *env, jclass c)
{
    (void)c;
    return (*env)->NewStringUTF(env, process->request_id);
}

static jint JNICALL native_chmod(JNIEnv *env, jclass c, jbyteArray path, jint mode)
{
    (void)c;
    size_t length;
    char *text = copy_bytes(env, path, &length);
    int error = text && chmod(text, (mode_t)mode) == 0 ? 0 : errno;
    free(text);
    return error;
}

static jint JNICALL native_chown(JNIEnv *env, jclass c, jbyteArray path, jint uid, jint gid)
{
    (void)c;
    size_t length;
    char *text = copy_bytes(env, path, &length);
    int error = text && lchown(text, (uid_t)uid, (gid_t)gid) == 0 ? 0 : errno;
    free(text);
    return error;
}

/* int setGroups(byte[] user, int gid): those of the user; null for none. */
static jint JNICALL native_set_groups(JNIEnv *env, jclass c, jbyteArray user, jint gid)
{
    (void)c;
    size_t length;
    char *text = user ? copy_bytes(env, user, &length) : NULL;
    int error = user && !text ? ENOMEM : identity_set_groups(text, (gid_t)gid);
    free(text);
    return error;
}

static jint JNICALL native_set_gid(JNIEnv *env, jclass c, jint gid)
{
    (void)env;
    (void)c;
    return identity_set_gid((gid_t)gid);
}

static jint JNICALL native_set_uid(JNIEnv *env, jclass c, jint uid)
{
    (void)env;
    (void)c;
    return identity_set_uid((uid_t)uid);
}

static jint JNICALL native_open_process(JNIEnv *env, jclass c)
{
    (void)env;
    (void)c;
    return identity_open();
}

/* int[] handOver(byte[] directory, byte[] name, int uid, int gid): errno, number of files that have changed their
   owner, number of those that were left to root. */
static jintArray JNICALL native_hand_over(JNIEnv *env, jclass c, jbyteArray directory, jbyteArray name, jint uid,
                                          jint gid)
{
    (void)c;
    size_t length;
    struct hand_over to = {.uid = (uid_t)uid, .gid = (gid_t)gid};
    char *where = copy_bytes(env, directory, &length), *what = copy_bytes(env, name, &length);
    int error = where && what ? identity_hand_over(where, what, &to) : ENOMEM;
    free(where);
    free(what);
    jint answer[] = {error, (jint)to.own, (jint)to.left};
    jintArray out = (*env)->NewIntArray(env, 3);
    if (out)
        (*env)->SetIntArrayRegion(env, out, 0, 3, answer);
    return out;
}

/* byte[] keeperReport(): waits for lines; null when there is nothing more to come. */
static jbyteArray JNICALL native_keeper_report(JNIEnv *env, jclass c)
{
    (void)c;
    char text[4096];
    ssize_t n = keeper_report(process, text, sizeof text);
    jbyteArray out = n > 0 ? (*env)->NewByteArray(env, (jsize)n) : NULL;
    if (out)
        (*env)->SetByteArrayRegion(env, out, 0, (jsize)n, (const jbyte *)text);
    return out;
}

/* Java opens its sockets without FD_CLOEXEC: a program that outlives its daemon would hold the daemon's port. */
static void keep_only_standard(void)
{
    if (syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
        for (int fd = 3; fd < DESCRIPTORS_WITHOUT_CLOSE_RANGE; fd++)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Child of vfork: only system calls. */
static pid_t start(char **argv, int out)
{
    static char *const nothing[] = {NULL};
    pid_t pid = vfork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (null >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2) {
            keep_only_standard();
            execve(argv[0], argv, nothing);
        }
        _exit(127);
    }
    return pid;
}

static unsigned char run_program(char **argv, char *text, size_t room, size_t *have)
{
    int out[2], status = 0;
    if (pipe2(out, O_CLOEXEC) < 0)
        return 255;
    pid_t pid = start(argv, out[1]);
    close(out[1]);
    ssize_t n;
    while (pid > 0 && *have < room && ((n = read(out[0], text + *have, room - *have)) > 0 || (n < 0 && errno == EINTR)))
        *have += n > 0 ? (size_t)n : 0;
    close(out[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) ? (unsigned char)WEXITSTATUS(status) : 255;
}

static jbyteArray JNICALL native_run(JNIEnv *env, jclass c, jobjectArray argv)
{
    (void)c;
    char *items[17] = {NULL}, text[4097];
    jsize count = (*env)->GetArrayLength(env, argv);
    size_t have = 0, length;
    for (jsize i = 0; i < count && i < 16; i++)
        items[i] = copy_bytes(env, (jbyteArray)(*env)->GetObjectArrayElement(env, argv, i), &length);
    text[0] = (char)(count > 16 || !items[0] ? 255 : run_program(items, text + 1, sizeof text - 1, &have));
    for (jsize i = 0; i < count && i < 16; i++)
        free(items[i]);
    jbyteArray out = (*env)->NewByteArray(env, (jsize)have + 1);
    if (out)
        (*env)->SetByteArrayRegion(env, out, 0, (jsize)have + 1, (const jbyte *)text);
    return out;
}

static jbyteArray java_bytes(JNIEnv *env, const char *bytes, size_t length)
{
    jbyteArray out = (*env)->NewByteArray(env, (jsize)length);
    if (out && length)
        (*env)->SetByteArrayRegion(env, out, 0, (jsize)length, (const jbyte *)bytes);
    return out;
}

/* byte[][] unfinished(): the step the command service left to this process (warm.c); null if there is none. */
static jobjectArray JNICALL native_unfinished(JNIEnv *env, jclass c)
{
    (void)c;
    const char *state, *input;
    char *progress;
    size_t state_bytes, input_bytes;
    if (!warm_unfinished(process, &state, &state_bytes, &progress, &input, &input_bytes))
        return NULL;
    jclass bytes = (*env)->FindClass(env, "[B");
    jobjectArray out = bytes ? (*env)->NewObjectArray(env, 3, bytes, NULL) : NULL;
    if (out) {
        (*env)->SetObjectArrayElement(env, out, 0, java_bytes(env, state, state_bytes));
        (*env)->SetObjectArrayElement(env, out, 1, java_bytes(env, progress, strlen(progress)));
        (*env)->SetObjectArrayElement(env, out, 2, java_bytes(env, input, input_bytes));
    }
    free(progress);
    return out;
}

/* FindClass would initialise the class, and its initialiser may already use what is not linked yet. */
static jclass load_class(JNIEnv *env, const char *name)
{
    char dotted[256];
    size_t i = 0;
    for (; name[i] && i < sizeof dotted - 1; i++)
        dotted[i] = name[i] == '/' ? '.' : name[i];
    dotted[i] = 0;
    jclass loaders = (*env)->FindClass(env, "java/lang/ClassLoader");
    jmethodID system =
        loaders ? (*env)->GetStaticMethodID(env, loaders, "getSystemClassLoader", "()Ljava/lang/ClassLoader;") : NULL;
    jmethodID load =
        system ? (*env)->GetMethodID(env, loaders, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;") : NULL;
    jobject loader = load ? (*env)->CallStaticObjectMethod(env, loaders, system) : NULL;
    jstring text = loader ? (*env)->NewStringUTF(env, dotted) : NULL;
    return text ? (jclass)(*env)->CallObjectMethod(env, loader, load, text) : NULL;
}

void natives_register(struct launcher *launcher, JNIEnv *env, const char *class_name)
{
    JNINativeMethod table[] = {
        {"argv", "()[[B", (void *)native_argv},
        {"environ", "()[[B", (void *)native_environ},
        {"umask", "()I", (void *)native_umask},
        {"exchangeUnix", "(Ljava/lang/String;[B)[B", (void *)native_exchange},
        {"daemonReady", "(I)V", (void *)native_ready},
        {"lockMemory", "()I", (void *)native_lock_memory},
        {"isForeground", "()Z", (void *)native_foreground},
        {"chdir", "([B)I", (void *)native_chdir},
        {"exitBySignal", "(I)V", (void *)native_exit_by_signal},
        {"kill", "(II)I", (void *)native_kill},
        {"isTerminal", "(I)Z", (void *)native_is_terminal},
        {"uid", "()I", (void *)native_uid},
        {"gid", "()I", (void *)native_gid},
        {"requestId", "()Ljava/lang/String;", (void *)native_request_id},
        {"chmod", "([BI)I", (void *)native_chmod},
        {"unfinished", "()[[B", (void *)native_unfinished},
        {"run", "([[B)[B", (void *)native_run},
        {"lchown", "([BII)I", (void *)native_chown},
        {"setGroups", "([BI)I", (void *)native_set_groups},
        {"setGid", "(I)I", (void *)native_set_gid},
        {"setUid", "(I)I", (void *)native_set_uid},
        {"openProcess", "()I", (void *)native_open_process},
        {"handOver", "([B[BII)[I", (void *)native_hand_over},
        {"keeperReport", "()[B", (void *)native_keeper_report},
    };
    process = launcher;
    jclass owner = load_class(env, class_name);
    (*env)->ExceptionClear(env);
    /* one by one: any of them may be missing */
    for (size_t i = 0; owner && i < sizeof table / sizeof table[0]; i++)
        if ((*env)->RegisterNatives(env, owner, &table[i], 1) != 0)
            (*env)->ExceptionClear(env);
}

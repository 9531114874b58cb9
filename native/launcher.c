/* See launcher.h. The process is what its name says: comm, arguments and /proc/PID/exe stay its own. */
#define _GNU_SOURCE
#include "launcher.h"
#include "keeper.h"
#include "natives.h"
#include "service.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define JAVA_VERSION_LEAST 25
#define MAIN_STACK_BYTES (8u << 20)
#define COMPILING_NICE 15
#define NICENESSES 40 /* of RLIMIT_NICE: all from 19 to -20 */
#define DAEMON_UMASK 022
/* The journal's files are laid out before they are filled. */
#define SPARE_MB 32
#define HEAP_OF_STATE 6
#define FIRST_HEAP_MB 64
#define FIRST_HEAP_MB_MAX 1024

extern char **environ;
/* What each daemon runs, and which of its short options take a value (so that -D is found where it is an option). */
static const struct daemon {
    const char *name, *main_class, *short_options, *foreground;
    bool detaches, keeps_services;
} DAEMONS[] = {
    {"slurmctld", "dev/muster/controller/Main", "+:BcdDf:hiL:n:RrsvV", "DhV", true, true},
    {"slurmd", "dev/muster/node/Main", "+:bcCd:Df:F::GhIL:Mn:N:svVZ", "DCGhV", true, true},
    {"slurmdbd", "dev/muster/accounting/Main", "+:Df:hn:R::suvV", "DhV", true, false},
    {"sackd", "dev/muster/daemon/SackMain", "+:Df:hvV", "DhV", true, true},
    {"slurmrestd", "dev/muster/rest/Main", "+:", "", false, false},
};

static const struct daemon *daemon_of(const char *name)
{
    for (size_t i = 0; i < sizeof DAEMONS / sizeof DAEMONS[0]; i++)
        if (!strcmp(DAEMONS[i].name, name))
            return &DAEMONS[i];
    return NULL;
}

static void fatal(struct launcher *launcher, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
static char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void fatal(struct launcher *launcher, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: fatal: ", launcher->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static char *format_text(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        abort();
    va_end(arguments);
    return text;
}

static bool find_prefix(struct launcher *launcher)
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0)
        return false;
    exe[n] = 0;
    char *slash = strrchr(exe, '/');
    if (!slash || strlen(slash + 1) >= sizeof launcher->name)
        return false;
    strcpy(launcher->name, slash + 1);
    *slash = 0;
    slash = strrchr(exe, '/');
    if (!slash)
        return false;
    *slash = 0;
    strcpy(launcher->prefix, exe);
    return true;
}

/* ---- the Java machine to use ---- */

static bool is_java_home(const char *path)
{
    char file[PATH_MAX + 32];
    snprintf(file, sizeof file, "%s/lib/server/libjvm.so", path);
    return *path && access(file, R_OK) == 0;
}

static int java_version(const char *home)
{
    char file[PATH_MAX + 32], line[256];
    int version = 0;
    snprintf(file, sizeof file, "%s/release", home);
    FILE *in = fopen(file, "re");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "JAVA_VERSION=\"%d", &version) == 1)
            break;
    if (in)
        fclose(in);
    return version;
}

/* %n stands for this process's network: a service of another one cannot reach this one's controller */
static void service_socket(struct launcher *launcher, const char *pattern)
{
    struct stat network;
    const char *mark = strstr(pattern, "%n");
    int length = 0;
    if (!mark)
        length = snprintf(launcher->service, sizeof launcher->service, "%s", pattern);
    else if (stat("/proc/self/ns/net", &network) == 0)
        length = snprintf(launcher->service, sizeof launcher->service, "%.*s%lu%s", (int)(mark - pattern), pattern,
                          (unsigned long)network.st_ino, mark + 2);
    if ((size_t)length + sizeof SERVICE_OF_ROOT > sizeof launcher->service)
        *launcher->service = 0; /* another socket's path */
}

static bool is_service(struct launcher *launcher) { return !strcmp(launcher->name, SERVICE_NAME); }

static bool is_keeper(struct launcher *launcher)
{
    return is_service(launcher) && launcher->argc > 1 && !strcmp(launcher->argv[1], "keep");
}

static bool is_service_of_root(struct launcher *launcher)
{
    return is_service(launcher) && launcher->argc > 1 && !strcmp(launcher->argv[1], "root");
}

/* launcher.conf: java_home=…, command_service=… with command_service_uid=…; for the Java machine cli_options=…,
   daemon_options=… or NAME_options=… */
static void read_conf(struct launcher *launcher, bool is_daemon)
{
    char line[4096];
    char *path = format_text("%s/lib/muster/launcher.conf", launcher->prefix);
    char *own = is_service(launcher) ? format_text("%sservice_options=", is_service_of_root(launcher) ? "root_" : "")
                                     : format_text("%s_options=", launcher->name);
    const char *kind = is_service(launcher) ? own : is_daemon ? "daemon_options=" : "cli_options=";
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "java_home=", 10) && !*launcher->java_home && is_java_home(line + 10))
            snprintf(launcher->java_home, sizeof launcher->java_home, "%s", line + 10);
        if (!strncmp(line, "command_service=", 16))
            service_socket(launcher, line + 16);
        if (!strncmp(line, "command_service_uid=", 20))
            launcher->service_uid = strtol(line + 20, NULL, 10);
        if (!strncmp(line, "command_service_gid=", 20))
            launcher->service_gid = strtol(line + 20, NULL, 10);
        const char *more = !strncmp(line, own, strlen(own))   ? line + strlen(own)
                         : !strncmp(line, kind, strlen(kind)) ? line + strlen(kind)
                                                              : NULL;
        if (more && strlen(launcher->extra_options) + strlen(more) + 2 < sizeof launcher->extra_options) {
            strcat(launcher->extra_options, more);
            strcat(launcher->extra_options, " ");
        }
    }
    if (in)
        fclose(in);
    free(path);
    free(own);
}

static void find_java(struct launcher *launcher)
{
    const char *from_environment = getenv("JAVA_HOME");
    if (*launcher->java_home)
        return;
    if (from_environment && is_java_home(from_environment) && java_version(from_environment) >= JAVA_VERSION_LEAST) {
        snprintf(launcher->java_home, sizeof launcher->java_home, "%s", from_environment);
        return;
    }
    DIR *all = opendir("/usr/lib/jvm");
    struct dirent *entry;
    while (all && (entry = readdir(all)) && !*launcher->java_home) {
        char *path = format_text("/usr/lib/jvm/%s", entry->d_name);
        if (entry->d_name[0] != '.' && is_java_home(path) && java_version(path) >= JAVA_VERSION_LEAST)
            snprintf(launcher->java_home, sizeof launcher->java_home, "%s", path);
        free(path);
    }
    if (all)
        closedir(all);
    if (!*launcher->java_home)
        fatal(launcher, "no Java %d found: set java_home= in %s/lib/muster/launcher.conf or install a JDK %d",
              JAVA_VERSION_LEAST, launcher->prefix, JAVA_VERSION_LEAST);
}

/* ---- its options ---- */

static void add_option(struct launcher *launcher, char *text)
{
    if (launcher->option_count < OPTIONS_MAX)
        launcher->options[launcher->option_count++].optionString = text;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void class_path(struct launcher *launcher, const char *kind)
{
    char *names[512], *directory = format_text("%s/lib/muster/jars/%s", launcher->prefix, kind);
    size_t count = 0, length = 64;
    DIR *all = opendir(directory);
    struct dirent *entry;
    while (all && (entry = readdir(all)) && count < sizeof names / sizeof names[0]) {
        size_t n = strlen(entry->d_name);
        if (n > 4 && !strcmp(entry->d_name + n - 4, ".jar"))
            names[count++] = format_text("%s/%s", directory, entry->d_name);
    }
    if (all)
        closedir(all);
    if (!count)
        fatal(launcher, "no program in %s", directory);
    qsort(names, count, sizeof names[0], by_name); /* the cache of classes is good for one order only */
    for (size_t i = 0; i < count; i++)
        length += strlen(names[i]) + 1;
    char *path = calloc(1, length);
    strcpy(path, "-Djava.class.path=");
    for (size_t i = 0; i < count; i++) {
        strcat(path, i ? ":" : "");
        strcat(path, names[i]);
        free(names[i]);
    }
    free(directory);
    add_option(launcher, path);
}

static bool handles_signals(struct launcher *launcher)
{
    static const char *const NAMES[] = {"srun", "salloc", "sattach", "sbatch", "scrun"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (!strcmp(NAMES[i], launcher->name))
            return true;
    return false;
}

/* The value that slurm.conf itself gives a key, without what it includes; NULL if it gives none. */
static char *configured_value(struct launcher *launcher, const char *key)
{
    char line[4096], *own = format_text("%s/etc/slurm.conf", launcher->prefix), *out = NULL;
    const char *named = getenv("SLURM_CONF");
    for (int i = 1; daemon_of(launcher->name) && i + 1 < launcher->argc; i++)
        if (!strcmp(launcher->argv[i], "-f"))
            named = launcher->argv[i + 1];
    const char *all[] = {own, "/run/slurm/conf/slurm.conf", "/etc/slurm/slurm.conf"};
    FILE *in = named && *named ? fopen(named, "re") : NULL;
    for (size_t i = 0; !(named && *named) && !in && i < sizeof all / sizeof all[0]; i++)
        in = fopen(all[i], "re");
    while (in && !out && fgets(line, sizeof line, in)) {
        char *at = line + strspn(line, " \t");
        char *value =
            at + strlen(key) + strspn(at + (strncasecmp(at, key, strlen(key)) ? strlen(at) : strlen(key)), " \t");
        if (!strncasecmp(at, key, strlen(key)) && *value == '=')
            out = format_text("%.*s", (int)strcspn(value + 1, " \t\r\n#"), value + 1);
    }
    if (in)
        fclose(in);
    free(own);
    return out;
}

/* What a handshake needs of the JDK is a cache of its own, half as large again, for commands whose slurm.conf encrypts
 * connections. */
static bool uses_tls(struct launcher *launcher)
{
    char *type = configured_value(launcher, "TLSType");
    bool found = type && !strstr(type, "none");
    free(type);
    return found;
}

/* Mebibytes that the heap of slurmctld begins with: room for the state that it reads, where growing step by step costs
 * a restart a fifth. */
static long first_heap_mb(struct launcher *launcher)
{
    char *place = configured_value(launcher, "StateSaveLocation"),
         *journal = place ? format_text("%s/journal", place) : NULL;
    DIR *all = journal ? opendir(journal) : NULL;
    struct dirent *entry;
    struct stat of;
    long bytes = 0;
    while (all && (entry = readdir(all)))
        if (fstatat(dirfd(all), entry->d_name, &of, 0) == 0 && S_ISREG(of.st_mode))
            bytes += of.st_size;
    if (all)
        closedir(all);
    free(journal);
    free(place);
    long mb = ((bytes >> 20) - SPARE_MB) * HEAP_OF_STATE;
    return mb > FIRST_HEAP_MB_MAX ? FIRST_HEAP_MB_MAX : mb < FIRST_HEAP_MB ? FIRST_HEAP_MB : mb;
}

/* Java takes classes from a cache without a look at their jars: a cache that is older than a jar holds other code. */
static bool is_usable(struct launcher *launcher, const char *cache, const char *kind)
{
    char *directory = format_text("%s/lib/muster/jars/%s", launcher->prefix, kind);
    DIR *all = opendir(directory);
    struct dirent *entry;
    struct stat of_cache, of_jar;
    bool usable = all && access(cache, R_OK) == 0 && stat(cache, &of_cache) == 0;
    while (usable && (entry = readdir(all))) {
        if (fstatat(dirfd(all), entry->d_name, &of_jar, 0) != 0 || !S_ISREG(of_jar.st_mode))
            continue;
        usable = of_jar.st_mtim.tv_sec < of_cache.st_mtim.tv_sec ||
                 (of_jar.st_mtim.tv_sec == of_cache.st_mtim.tv_sec &&
                  of_jar.st_mtim.tv_nsec <= of_cache.st_mtim.tv_nsec);
    }
    if (all)
        closedir(all);
    free(directory);
    return usable;
}

static void common_options(struct launcher *launcher, const char *kind)
{
    class_path(launcher, kind);
    bool is_daemon = daemon_of(launcher->name) != NULL;
    char *cache = format_text("%s/lib/muster/%s.aot", launcher->prefix,
                              is_daemon            ? launcher->name
                              : uses_tls(launcher) ? "cli-tls"
                                                   : kind);
    if (!is_daemon && !is_usable(launcher, cache, kind)) {
        free(cache);
        cache = format_text("%s/lib/muster/%s.aot", launcher->prefix, kind);
    }
    if (is_usable(launcher, cache, kind)) {
        add_option(launcher, format_text("-XX:AOTCache=%s", cache));
        add_option(launcher, "-XX:AOTMode=auto"); /* a cache of another machine or JDK is passed over */
    }
    free(cache);
    add_option(launcher, "-Xlog:disable");
    add_option(launcher, "-Xlog:all=error:stderr");
    add_option(launcher, "-Xlog:aot*=off:stderr");
    add_option(launcher, "-Xlog:cds*=off:stderr");
    add_option(launcher, "-XX:-UsePerfData");
    add_option(launcher, "--enable-native-access=ALL-UNNAMED");
    add_option(launcher, "-Dfile.encoding=UTF-8");
    add_option(launcher, "-Dsun.jnu.encoding=UTF-8");
    add_option(launcher, format_text("-Dmuster.prefix=%s", launcher->prefix));
}

/* No other process attaches to it: its memory holds sessions of many users. */
static void service_options(struct launcher *launcher)
{
    char *cache = format_text("%s/lib/muster/service.aot", launcher->prefix), *save = NULL;
    add_option(launcher, "-XX:+UseSerialGC");
    add_option(launcher, "-XX:TieredStopAtLevel=1");
    add_option(launcher, "-Xms32m");
    add_option(launcher, "-Xmx512m");
    add_option(launcher, "-Xss512k");
    add_option(launcher, "-XX:-UsePerfData");
    add_option(launcher, "-XX:+DisableAttachMechanism");
    add_option(launcher, "-Xlog:disable");
    if (is_usable(launcher, cache, "cli")) {
        add_option(launcher, format_text("-XX:AOTCache=%s", cache));
        add_option(launcher, "-XX:AOTMode=auto");
    }
    free(cache);
    for (char *o = strtok_r(launcher->extra_options, " ", &save); o; o = strtok_r(NULL, " ", &save))
        add_option(launcher, o);
    add_option(launcher, format_text("-Dmuster.prefix=%s", launcher->prefix));
    class_path(launcher, "cli");
}

static void make_options(struct launcher *launcher, bool is_daemon)
{
    common_options(launcher, is_daemon ? "daemon" : "cli");
    if (!is_daemon) {
        add_option(launcher, "-XX:+UseSerialGC");
        add_option(launcher, "-XX:TieredStopAtLevel=1");
        add_option(launcher, "-Xms12m");
        add_option(launcher, "-Xmx768m");
        /* a command runs once: compiling, and moving its cache to another address, cost it more than they give */
        add_option(launcher, "-XX:+UnlockDiagnosticVMOptions");
        add_option(launcher, "-XX:-AOTReplayTraining");
        add_option(launcher, "-XX:ArchiveRelocationMode=0");
        add_option(launcher, "-XX:Tier3InvocationThreshold=2000");
        add_option(launcher, "-XX:Tier3MinInvocationThreshold=1000");
        add_option(launcher, "-XX:Tier3CompileThreshold=6000");
        if (!handles_signals(launcher))
            add_option(launcher, "-Xrs");
    } else if (!strcmp(launcher->name, "slurmd") || !strcmp(launcher->name, "sackd")) {
        add_option(launcher, "-XX:+UseSerialGC");
        add_option(launcher, "-XX:TieredStopAtLevel=1");
        add_option(launcher, "-Xms16m");
        add_option(launcher, "-Xmx512m");
    } else if (!strcmp(launcher->name, "slurmrestd")) {
        /* what it makes is gone at once, but for the replies it is writing from: a small young heap, collected often,
         * is enough */
        add_option(launcher, "-XX:+UseSerialGC");
        add_option(launcher, "-Xms32m");
        add_option(launcher, "-Xmn24m");
        add_option(launcher, "-Xmx512m");
    } else {
        add_option(launcher, format_text("-Xms%ldm", first_heap_mb(launcher)));
        /* what a request makes is gone at once: with more room for it the process only becomes larger, by gigabytes
         * when much happens */
        add_option(launcher, "-XX:MaxNewSize=512m");
        /* the optimising compiler is for what a large queue makes hot: a small one is served before it has paid for
         * itself */
        add_option(launcher, "-XX:Tier4InvocationThreshold=15000");
        add_option(launcher, "-XX:Tier4MinInvocationThreshold=2000");
        add_option(launcher, "-XX:Tier4CompileThreshold=40000");
        add_option(launcher, "-XX:Tier4BackEdgeThreshold=100000");
        /* nor does it put together what is large already: it took a third of the CPU of the first minutes for code that
         * was no faster */
        add_option(launcher, "-XX:FreqInlineSize=80");
        add_option(launcher, "-XX:InlineSmallCode=1000");
        add_option(launcher, "-XX:MaxInlineLevel=7");
        add_option(launcher, "-XX:LoopUnrollLimit=10");
        add_option(launcher, "-XX:-PartialPeelLoop");
    }
    char *save = NULL;
    for (char *o = strtok_r(launcher->extra_options, " ", &save); o; o = strtok_r(NULL, " ", &save))
        add_option(launcher, o);
}

/* ---- running it ---- */

static jobjectArray arguments_of(struct launcher *launcher, JNIEnv *env)
{
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jmethodID make = string ? (*env)->GetMethodID(env, string, "<init>", "([BLjava/lang/String;)V") : NULL;
    jstring utf8 = (*env)->NewStringUTF(env, "UTF-8");
    jobjectArray out = make ? (*env)->NewObjectArray(env, launcher->argc, string, NULL) : NULL;
    for (int i = 0; out && i < launcher->argc; i++) {
        const char *text = i ? launcher->argv[i] : launcher->name;
        jsize length = (jsize)strlen(text);
        jbyteArray bytes = (*env)->NewByteArray(env, length);
        (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte *)text);
        jobject one = (*env)->NewObject(env, string, make, bytes, utf8);
        if (!one)
            return NULL;
        (*env)->SetObjectArrayElement(env, out, i, one);
        (*env)->DeleteLocalRef(env, bytes);
        (*env)->DeleteLocalRef(env, one);
    }
    return out;
}

static char *native_class(const char *main_class)
{
    return format_text("%.*sNative", (int)(strrchr(main_class, '/') + 1 - main_class), main_class);
}

/*
 * Reading a long queue uses all processors, and is over before optimised code has paid for itself: until slurmctld
 * serves, the optimising compiler is nicer than the other threads by that much. Only root may begin it: what undoes it
 * then is a limit, which SlurmUser may use as well, and which ends with it.
 */
static void compile_behind(struct launcher *launcher, int nicer)
{
    static struct rlimit before;
    struct rlimit any = {NICENESSES, NICENESSES};
    if (strcmp(launcher->name, "slurmctld") || (nicer && geteuid() != 0) || (!nicer && !launcher->compiles_behind))
        return;
    if (nicer && (getrlimit(RLIMIT_NICE, &before) < 0 || setrlimit(RLIMIT_NICE, &any) < 0))
        return;
    launcher->compiles_behind = nicer != 0;
    int nice = getpriority(PRIO_PROCESS, 0) + nicer;
    DIR *all = opendir("/proc/self/task");
    struct dirent *entry;
    while (all && (entry = readdir(all))) {
        char name[64] = "", *path = format_text("/proc/self/task/%s/comm", entry->d_name);
        FILE *comm = fopen(path, "re");
        if (comm && fgets(name, sizeof name, comm) && !strncmp(name, "C2 ", 3))
            setpriority(PRIO_PROCESS, (id_t)atoi(entry->d_name), nice);
        if (comm)
            fclose(comm);
        free(path);
    }
    if (all)
        closedir(all);
    if (!nicer)
        setrlimit(RLIMIT_NICE, &before);
}

void launcher_serves(struct launcher *launcher) { compile_behind(launcher, 0); }

static void *run_java(void *context)
{
    struct launcher *launcher = context;
    char *library = format_text("%s/lib/server/libjvm.so", launcher->java_home);
    void *jvm = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    jint (*create)(JavaVM **, void **, void *) = NULL;
    JavaVM *vm;
    JNIEnv *env;
    if (jvm)
        *(void **)&create = dlsym(jvm, "JNI_CreateJavaVM");
    if (!create)
        fatal(launcher, "cannot load %s: %s", library, dlerror());
    JavaVMInitArgs init = {.version = JNI_VERSION_10,
                           .nOptions = launcher->option_count,
                           .options = launcher->options,
                           .ignoreUnrecognized = JNI_TRUE};
    if (create(&vm, (void **)&env, &init) != JNI_OK)
        fatal(launcher, "the Java machine in %s does not start", launcher->java_home);
    compile_behind(launcher, COMPILING_NICE);
    if (!is_service(launcher))
        natives_register(launcher, env, native_class(launcher->main_class));
    if (daemon_of(launcher->name))
        natives_register(launcher, env, "dev/muster/daemon/Native");
    jclass class = (*env)->FindClass(env, launcher->main_class);
    jmethodID method = class ? (*env)->GetStaticMethodID(env, class, "main", "([Ljava/lang/String;)V") : NULL;
    jobjectArray arguments = method ? arguments_of(launcher, env) : NULL;
    if (arguments)
        (*env)->CallStaticVoidMethod(env, class, method, arguments);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        natives_ready(launcher, 1);
        exit(1);
    }
    (*vm)->DestroyJavaVM(vm); /* waits for the program's other threads */
    exit(0);
}

/* The Java machine must not live on the primordial thread, whose stack it cannot guard. */
static void run_on_thread(struct launcher *launcher, const char *main_class)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (!daemon_of(launcher->name) && !is_service(launcher))
        mallopt(M_ARENA_MAX, 1); /* a thread's own arena grows a page at a time, with a system call for each */
    launcher->main_class = main_class;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, MAIN_STACK_BYTES);
    int error = pthread_create(&thread, &attributes, run_java, launcher);
    if (error)
        fatal(launcher, "no thread: %s", strerror(error));
    pthread_join(thread, NULL);
}

/* ---- daemons ---- */

static bool stays_in_foreground(struct launcher *launcher, const struct daemon *d)
{
    if (!d->detaches)
        return true;
    static const struct option LONG[] = {
        {"systemd", no_argument, NULL, 1},
        {"help", no_argument, NULL, 1},
        {"usage", no_argument, NULL, 1},
        {"version", no_argument, NULL, 1},
        {"conf", required_argument, NULL, 2},
        {"conf-server", required_argument, NULL, 2},
        {"extra", required_argument, NULL, 2},
        {"instance-id", required_argument, NULL, 2},
        {"instance-type", required_argument, NULL, 2},
        {"authinfo", required_argument, NULL, 2},
        {"ca-cert-file", required_argument, NULL, 2},
        {"port", required_argument, NULL, 2},
        {"disable-reconfig", no_argument, NULL, 2},
        {NULL, 0, NULL, 0},
    };
    int c;
    bool stays = false;
    opterr = 0;
    while ((c = getopt_long(launcher->argc, launcher->argv, d->short_options, LONG, NULL)) != -1)
        stays |= c == 1 || (isalpha(c) && strchr(d->foreground, c)) || c == '?' || c == ':';
    return stays;
}

/* Returns in the daemon; the process that was started waits until it serves, and exits with its answer. */
static void detach(struct launcher *launcher)
{
    int answer[2];
    if (pipe2(answer, O_CLOEXEC) < 0)
        fatal(launcher, "pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        fatal(launcher, "fork: %s", strerror(errno));
    if (pid == 0) {
        setsid();
        pid = fork();
        if (pid != 0)
            _exit(pid < 0);
        close(answer[0]);
        launcher->ready_fd = answer[1];
        return;
    }
    close(answer[1]);
    unsigned char rc = 1;
    while (read(answer[0], &rc, 1) < 0 && errno == EINTR)
        continue;
    _exit(rc); /* 1 when the daemon ended without an answer: it has said why */
}

/* The Java machine is deaf to these; the job still gets them, from launcher.environment. */
static void hide_java_variables(struct launcher *launcher)
{
    unsetenv("JAVA_TOOL_OPTIONS");
    unsetenv("_JAVA_OPTIONS");
    unsetenv("JDK_JAVA_OPTIONS");
    setenv("MUSTER_REQUEST_ID", launcher->request_id, 1);
}

static void run_service(struct launcher *launcher)
{
    if (!service_begin(launcher, is_service_of_root(launcher)))
        exit(1);
    hide_java_variables(launcher);
    find_java(launcher);
    service_options(launcher);
    run_on_thread(launcher, "dev/muster/cli/CommandService");
}

static void run_daemon(struct launcher *launcher, const struct daemon *d)
{
    signal(SIGPROF, SIG_IGN); /* sent for diagnosis; must not end a daemon */
    umask(DAEMON_UMASK);      /* files with another mode are made with it, whatever the caller's mask was */
    if (!stays_in_foreground(launcher, d))
        detach(launcher);
    if (d->keeps_services)
        keeper_start(launcher);
    find_java(launcher);
    make_options(launcher, true);
    run_on_thread(launcher, d->main_class);
}

/* ---- the start ---- */

static void remember_caller(struct launcher *launcher, int argc, char **argv)
{
    size_t count = 0;
    while (environ[count])
        count++;
    launcher->argc = argc;
    launcher->argv = argv;
    launcher->environment = calloc(count + 1, sizeof(char *));
    if (!launcher->environment)
        abort();
    memcpy(launcher->environment, environ, count * sizeof(char *));
    launcher->umask = umask(022);
    umask(launcher->umask);
}

static void make_request_id(struct launcher *launcher)
{
    unsigned char random[REQUEST_ID_CHARS / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        fatal(launcher, "no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof random; i++)
        sprintf(launcher->request_id + 2 * i, "%02x", random[i]);
}

/* No Java machine starts in a directory that is gone. What hands it on to a job cannot go on; all else can, elsewhere.
 */
static void leave_lost_directory(struct launcher *launcher)
{
    static const char *const NEEDS[] = {"sbatch", "srun", "mpiexec.slurm", "qsub", "bsub"};
    char *directory = getcwd(NULL, 0);
    int error = errno;
    if (directory || error != ENOENT) {
        free(directory);
        return;
    }
    bool needed = false;
    for (size_t i = 0; i < sizeof NEEDS / sizeof NEEDS[0]; i++)
        needed |= !strcmp(launcher->name, NEEDS[i]);
    if (needed || !strcmp(launcher->name, "salloc"))
        fprintf(stderr, "%s: error: getcwd failed: %s\n", launcher->name, strerror(error));
    if (needed)
        exit(255);
    if (chdir("/") < 0)
        fatal(launcher, "cannot leave a directory that is gone: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    static struct launcher state = {.ready_fd = -1,
                                    .keeper_order = -1,
                                    .keeper_report = -1,
                                    .service_uid = -1,
                                    .warm = {.service = -1, .signals = -1}};
    struct launcher *launcher = &state;
    int rc;
    if (argc == 0 || !find_prefix(launcher)) {
        fprintf(stderr, "cannot find the installation through /proc/self/exe\n");
        return 1;
    }
    const struct daemon *d = daemon_of(launcher->name);
    /* muster --version tells Muster's own version as well, which Java knows */
    int asks_version = !d && strcmp(launcher->name, "muster") && argc == 2 && !strcmp(argv[1], "--version");
    if (asks_version || (argc == 2 && !strcmp(argv[1], "-V"))) {
        puts(strcmp(launcher->name, "sgather") ? VERSION_LINE : "sgather" VERSION_NUMBER);
        return 0;
    }
    remember_caller(launcher, argc, argv);
    leave_lost_directory(launcher);
    read_conf(launcher, d != NULL);
    if (is_keeper(launcher))
        return keeper_run(launcher);
    if (is_service(launcher)) {
        run_service(launcher);
        return 1;
    }
    if (d) {
        signal(SIGHUP,
               SIG_DFL); /* also where nohup started it: to a daemon it says that its files are to be read again */
        hide_java_variables(launcher);
        run_daemon(launcher, d);
        return 1;
    }
    make_request_id(launcher);
    if (warm_run(launcher, &rc))
        return rc;
    hide_java_variables(launcher);
    find_java(launcher);
    make_options(launcher, false);
    run_on_thread(launcher, "dev/muster/cli/Main");
    return 1;
}

/*
 * A task that speaks PMI: pmi_client VERSION ROUNDS PAUSE_MS. In each round it puts a value, meets all others at a fence and reads
 * what each of them has put. Says "ok RANK SIZE" in the end. With PMI-2 the commands that need no fence are tried as well.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd, version;
static char answer[8192];

static void fail(const char *what)
{
    printf("failed: %s: %s\n", what, answer);
    exit(1);
}

static void read_exactly(char *into, size_t n)
{
    while (n) {
        ssize_t got = read(fd, into, n);
        if (got <= 0)
            fail("connection");
        into += got;
        n -= (size_t)got;
    }
}

static void read_answer(int with_length)
{
    size_t n = 0;
    if (with_length) {
        char head[7] = "";
        read_exactly(head, 6);
        n = strtoul(head, NULL, 10);
        if (n >= sizeof answer)
            fail("length");
        read_exactly(answer, n);
    } else {
        do
            read_exactly(answer + n, 1);
        while (answer[n++] != '\n' && n < sizeof answer - 1);
    }
    answer[n] = 0;
}

static void ask(const char *wanted, const char *format, ...)
{
    char text[4096], head[8];
    va_list arguments;
    int with_length = version == 2 && strncmp(format, "cmd=init", 8);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(head, sizeof head, "%6zu", strlen(text));
    if ((with_length && write(fd, head, 6) != 6) || write(fd, text, strlen(text)) < 0)
        fail("write");
    read_answer(with_length);
    if (!strstr(answer, wanted))
        fail(wanted);
}

static void others(int rank)
{
    ask("size=", "cmd=fullinit;pmirank=%d;threaded=TRUE;", rank);
    ask("jobid=", "cmd=job-getid;thrid=7;");
    if (!strstr(answer, "thrid=7;"))
        fail("thrid");
    ask("value=(vector,", "cmd=info-getjobattr;key=PMI_process_mapping;");
    ask("found=FALSE", "cmd=info-getjobattr;key=nothing;");
    ask("rc=-1", "cmd=spawn;ncmds=1;");
    ask("rc=0", "cmd=info-putnodeattr;key=n%d;value=a;;b;", rank);
    ask("value=a;;b;", "cmd=info-getnodeattr;key=n%d;wait=TRUE;", rank);
    ask("rc=0", "cmd=name-publish;name=service-%d;port=port-%d;", rank, rank);
    ask("rc=-1", "cmd=name-publish;name=service-%d;port=other;", rank);
    ask("value=port-", "cmd=name-lookup;name=service-%d;", rank);
    ask("rc=0", "cmd=name-unpublish;name=service-%d;", rank);
    ask("found=FALSE", "cmd=name-lookup;name=service-%d;", rank);
}

int main(int argc, char **argv)
{
    int rank = atoi(getenv("PMI_RANK")), size = atoi(getenv("PMI_SIZE")), rounds = argc > 2 ? atoi(argv[2]) : 1;
    char wanted[64];
    fd = atoi(getenv("PMI_FD"));
    version = argc > 1 ? atoi(argv[1]) : 1;
    ask("rc=0", "cmd=init pmi_version=%d pmi_subversion=%d\n", version, version == 1);
    if (version == 2)
        others(rank);
    for (int round = 0; round < rounds; round++) {
        if (version == 2) {
            ask("rc=0", "cmd=kvs-put;key=k%d-%d;value=v%d-%d;", round, rank, round, rank);
            ask("rc=0", "cmd=kvs-fence;");
        } else {
            ask("rc=0", "cmd=put kvsname=x key=k%d-%d value=v%d-%d\n", round, rank, round, rank);
            ask("barrier_out", "cmd=barrier_in\n");
        }
        for (int other = 0; other < size; other++) {
            snprintf(wanted, sizeof wanted, "value=v%d-%d%s", round, other, version == 2 ? ";" : "\n");
            if (version == 2)
                ask(wanted, "cmd=kvs-get;key=k%d-%d;srcid=-1;", round, other);
            else
                ask(wanted, "cmd=get kvsname=x key=k%d-%d\n", round, other);
        }
        usleep(argc > 3 ? (useconds_t)atoi(argv[3]) * 1000 : 0);
    }
    ask(version == 2 ? "rc=0" : "finalize_ack", version == 2 ? "cmd=finalize;" : "cmd=finalize\n");
    printf("ok %d %d\n", rank, size);
    return 0;
}

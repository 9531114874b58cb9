/* What of root's files another user gets, and what stays root's. Needs root. Usage: identity_test DIRECTORY */
#define _GNU_SOURCE
#include "../identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER 23050
#define GROUP 23051
#define OTHER 23052

static int failures;

static void expect(const char *what, long long wanted, long long got)
{
    if (wanted == got)
        return;
    printf("FAIL %s: expected %lld, got %lld\n", what, wanted, got);
    failures++;
}

static void make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0600);
    if (fd < 0 || close(fd) < 0)
        exit((perror(path), 2));
}

static void must(int rc, const char *what)
{
    if (rc < 0)
        exit((perror(what), 2));
}

static long long owner(const char *path)
{
    struct stat st;
    return lstat(path, &st) < 0 ? -1 : (long long)st.st_uid;
}

static void make_tree(void)
{
    must(mkdir("state", 0700), "state");
    must(mkdir("state/journal", 0700), "journal");
    must(mkdir("state/journal/deep", 0700), "deep");
    must(mkdir("outside", 0700), "outside");
    make_file("outside/secret");
    make_file("outside/twin");
    make_file("state/journal/1.log");
    make_file("state/journal/deep/2.log");
    make_file("state/journal/others");
    must(chown("state/journal/others", OTHER, OTHER), "others");
    must(symlink("../../outside/secret", "state/journal/link"), "link");
    must(symlink("../../outside", "state/journal/way"), "way");
    must(link("outside/twin", "state/journal/twin"), "twin");
    must(mkfifo("state/journal/fifo", 0600), "fifo");
    must(symlink("../outside", "state/linked"), "linked");
}

static void hands_over_plain_files_and_directories(void)
{
    struct hand_over to = {.uid = USER, .gid = GROUP};
    expect("rc", 0, identity_hand_over("state", "journal", &to));
    expect("own", 4, to.own);
    expect("left", 4, to.left);
    expect("directory", USER, owner("state/journal"));
    expect("file", USER, owner("state/journal/1.log"));
    expect("deep directory", USER, owner("state/journal/deep"));
    expect("deep file", USER, owner("state/journal/deep/2.log"));
    expect("another user's", OTHER, owner("state/journal/others"));
    expect("link", 0, owner("state/journal/link"));
    expect("what the link leads to", 0, owner("outside/secret"));
    expect("directory that a link leads to", 0, owner("outside"));
    expect("file with two names", 0, owner("outside/twin"));
    expect("pipe", 0, owner("state/journal/fifo"));
    expect("the directory above", 0, owner("state"));
}

static void leaves_a_name_that_is_a_link(void)
{
    struct hand_over to = {.uid = USER, .gid = GROUP};
    expect("rc of a link", 0, identity_hand_over("state", "linked", &to));
    expect("own of a link", 0, to.own);
    expect("behind a link", 0, owner("outside"));
    expect("way out", EINVAL, identity_hand_over("state", "..", &to));
    expect("path", EINVAL, identity_hand_over("state", "journal/deep", &to));
    expect("no such directory", ENOENT, identity_hand_over("none", "x", &to));
    expect("no such name", 0, identity_hand_over("state", "none", &to));
}

static void hands_over_the_directory_alone(void)
{
    struct hand_over to = {.uid = USER, .gid = (gid_t)-1};
    struct stat st;
    make_file("state/new");
    expect("rc of .", 0, identity_hand_over("state", ".", &to));
    expect("own of .", 1, to.own);
    expect("directory", USER, owner("state"));
    expect("what is in it", 0, owner("state/new"));
    expect("its group stays", 0, stat("state", &st) == 0 ? (long long)st.st_gid : -1);
}

/* In a child: there is no way back. */
static int become_and_try(void)
{
    uid_t real, effective, saved;
    if (identity_set_groups(NULL, 0) || identity_set_gid(GROUP) || identity_set_uid(USER) || identity_open())
        return 1;
    if (getresuid(&real, &effective, &saved) < 0 || real != USER || effective != USER || saved != USER)
        return 2;
    if (getgroups(0, NULL) != 0 || getegid() != GROUP)
        return 3;
    return setuid(0) == 0 || setresuid(0, 0, 0) == 0 || identity_set_uid(0) == 0 ? 4 : 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc != 2 || geteuid() != 0) {
        printf("skipped: identity_test needs root and a directory\n");
        return argc == 2 ? 0 : 2;
    }
    must(chdir(argv[1]), argv[1]);
    make_tree();
    hands_over_plain_files_and_directories();
    leaves_a_name_that_is_a_link();
    hands_over_the_directory_alone();
    pid_t pid = fork();
    if (pid == 0)
        _exit(become_and_try());
    waitpid(pid, &status, 0);
    expect("becoming a user", 0, status);
    printf("%s identity_test\n", failures ? "FAIL" : "ok   ");
    return failures != 0;
}

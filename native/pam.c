/*
 * A PAM session around a step (UsePAM): service "slurm". libpam is opened when it is wanted, so that nothing else
 * depends on it.
 */
#define _GNU_SOURCE
#include "stepd.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* As in the interface that PAM's library has had since its first version. */
#define PAM_SUCCESS 0
#define PAM_CONV_ERR 19
#define PAM_RUSER 8
#define PAM_ESTABLISH_CRED 2
#define PAM_DELETE_CRED 4

struct pam_message;
struct pam_response;
struct conversation {
    int (*ask)(int count, const struct pam_message **what, struct pam_response **answers, void *data);
    void *data;
};

static struct {
    void *library;
    int (*start)(const char *service, const char *user, const struct conversation *, void **handle);
    int (*set_item)(void *handle, int item, const void *value);
    int (*set_credentials)(void *handle, int flags);
    int (*open_session)(void *handle, int flags);
    int (*close_session)(void *handle, int flags);
    int (*end)(void *handle, int status);
    const char *(*error)(void *handle, int status);
} pam;

static void *session;

/* There is nobody to ask. */
static int ask(int count, const struct pam_message **what, struct pam_response **answers, void *data)
{
    (void)count, (void)what, (void)answers, (void)data;
    return PAM_CONV_ERR;
}

bool pam_load(char *error, size_t room)
{
    const struct {
        const char *name;
        void **where;
    } calls[] = {
        {"pam_start", (void **)&pam.start},
        {"pam_set_item", (void **)&pam.set_item},
        {"pam_setcred", (void **)&pam.set_credentials},
        {"pam_open_session", (void **)&pam.open_session},
        {"pam_close_session", (void **)&pam.close_session},
        {"pam_end", (void **)&pam.end},
        {"pam_strerror", (void **)&pam.error},
    };
    pam.library = dlopen("libpam.so.0", RTLD_NOW | RTLD_GLOBAL); /* modules look for its symbols */
    if (!pam.library) {
        snprintf(error, room, "UsePAM: %s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!(*calls[i].where = dlsym(pam.library, calls[i].name))) {
            snprintf(error, room, "UsePAM: libpam.so.0 has no %s", calls[i].name);
            return false;
        }
    return true;
}

static bool failed(const char *call, int status, char *error, size_t room)
{
    if (status == PAM_SUCCESS)
        return false;
    snprintf(error, room, "UsePAM: %s: %s", call, pam.error(session, status));
    if (session)
        pam.end(session, status);
    session = NULL;
    return true;
}

/* Before any task is there: what modules do to this process (limits, say), the tasks inherit. */
bool pam_begin(char *error, size_t room)
{
    static const struct conversation conversation = {ask, NULL};
    if (!spec.pam)
        return true;
    if (!pam_load(error, room))
        return false;
    if (failed("pam_start", pam.start("slurm", spec.user, &conversation, &session), error, room)
        || failed("pam_set_item", pam.set_item(session, PAM_RUSER, spec.user), error, room)
        || failed("pam_setcred", pam.set_credentials(session, PAM_ESTABLISH_CRED), error, room))
        return false;
    int status = pam.open_session(session, 0);
    if (status != PAM_SUCCESS)
        pam.set_credentials(session, PAM_DELETE_CRED);
    return !failed("pam_open_session", status, error, room);
}

/* When nothing of the step is left. */
void pam_finish(void)
{
    if (!session)
        return;
    int status = pam.close_session(session, 0);
    if (status != PAM_SUCCESS)
        log_line("UsePAM: pam_close_session: %s", pam.error(session, status));
    pam.set_credentials(session, PAM_DELETE_CRED);
    pam.end(session, status);
    session = NULL;
}

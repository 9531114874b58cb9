/*
 * A PAM session around a step (UsePAM): service "slurm". libpam is opened when it is wanted, so that nothing else
 * depends on it.
 */
#define _GNU_SOURCE
#include "pam.h"
#include "step.h"
#include "log.h"

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
    int (*ask)(int count, const struct pam_message **messages, struct pam_response **answers, void *data);
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

/* There is nobody to ask. */
static int ask(int count, const struct pam_message **messages, struct pam_response **answers, void *data)
{
    (void)count, (void)messages, (void)answers, (void)data;
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

static bool failed(struct step *step, const char *call, int status, char *error, size_t room)
{
    if (status == PAM_SUCCESS)
        return false;
    snprintf(error, room, "UsePAM: %s: %s", call, pam.error(step->pam_session, status));
    if (step->pam_session)
        pam.end(step->pam_session, status);
    step->pam_session = NULL;
    return true;
}

/* Before any task is there: what modules do to this process (limits, say), the tasks inherit. */
bool pam_begin(struct step *step, char *error, size_t room)
{
    static const struct conversation conversation = {ask, NULL};
    if (!step->spec.pam)
        return true;
    if (!pam_load(error, room))
        return false;
    if (failed(step, "pam_start", pam.start("slurm", step->spec.user, &conversation, &step->pam_session), error, room)
        || failed(step, "pam_set_item", pam.set_item(step->pam_session, PAM_RUSER, step->spec.user), error, room)
        || failed(step, "pam_setcred", pam.set_credentials(step->pam_session, PAM_ESTABLISH_CRED), error, room))
        return false;
    int status = pam.open_session(step->pam_session, 0);
    if (status != PAM_SUCCESS)
        pam.set_credentials(step->pam_session, PAM_DELETE_CRED);
    return !failed(step, "pam_open_session", status, error, room);
}

/* When nothing of the step is left. */
void pam_finish(struct step *step)
{
    if (!step->pam_session)
        return;
    int status = pam.close_session(step->pam_session, 0);
    if (status != PAM_SUCCESS)
        log_line(step, "UsePAM: pam_close_session: %s", pam.error(step->pam_session, status));
    pam.set_credentials(step->pam_session, PAM_DELETE_CRED);
    pam.end(step->pam_session, status);
    step->pam_session = NULL;
}

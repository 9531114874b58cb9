/*
 * A PAM session around the step: pam.c, or pam_static.c in the program without libraries. Called by: stepd.c. Calls:
 * log.c.
 */
#ifndef MUSTER_PAM_H
#define MUSTER_PAM_H

#include <stdbool.h>
#include <stddef.h>

struct step;

bool pam_load(char *error, size_t room);
bool pam_begin(struct step *step, char *error, size_t room);
void pam_finish(struct step *step);

#endif

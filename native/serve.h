/*
 * slurmstepd --serve: forks a step's process for each request of slurmd. Called by: stepd.c. Calls: spec.c, stepd.c.
 */
#ifndef MUSTER_SERVE_H
#define MUSTER_SERVE_H

struct step;

int serve_requests(struct step *step);
void serve_tell_lingering(struct step *step);

#endif

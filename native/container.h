/*
 * A task whose OCI runtime has no `run` (slurmstepd --container). Called by: stepd.c. Calls: log.c.
 */
#ifndef MUSTER_CONTAINER_H
#define MUSTER_CONTAINER_H

int container_main(char **argv);

#endif

/* mpi-helper's helper.c beside a fuzz target, which has a main of its own. */
#define main helper_main
int helper_main(int argc, char **argv);
#include "../mpi/helper.c"

/** Commands of steps: srun, sattach, sbcast. */
package dev.muster.cli.step;

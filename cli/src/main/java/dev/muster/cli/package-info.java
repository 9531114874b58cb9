/**
 * The commands: squeue, sbatch, srun and the others. {@code Main} starts one by its name.
 *
 * <pre>
 * launcher -> Main -> CommandTable -> command -> request to slurmctld or slurmdbd
 * </pre>
 */
package dev.muster.cli;

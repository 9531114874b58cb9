/** Commands that submit: sbatch, salloc, scrontab. */
package dev.muster.cli.submit;

/** Jobs: submission, update, dependencies, arrays, heterogeneous jobs, requeue and end. */
package dev.muster.core.job;

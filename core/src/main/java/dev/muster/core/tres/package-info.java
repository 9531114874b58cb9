/** Trackable resources: counts by name, generic resources, licenses, GPUs and what a job is billed for them. */
package dev.muster.core.tres;

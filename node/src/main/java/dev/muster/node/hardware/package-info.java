/** What the machine has: CPUs, memory, GPUs, features and frequencies. */
package dev.muster.node.hardware;

/** CPUs, memory, GPUs, features and frequencies of the machine. */
package dev.muster.node.hardware;

/** The operating system: processes, users' files, programs, and the one thread on which everything is decided. */
package dev.muster.node.os;

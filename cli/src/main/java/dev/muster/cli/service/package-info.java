/** Commands in a process that is kept running, and the classes that an installation records for quick starts. */
package dev.muster.cli.service;

/** Commands to the controller, their decisions, and the checks of identities that all rules share. */
package dev.muster.core.command;

/** The base of every command: host, connection to the controller, output, errors. */
package dev.muster.cli.command;

/** The base of every command: context, host, controller, configuration, output, errors. */
package dev.muster.cli.command;

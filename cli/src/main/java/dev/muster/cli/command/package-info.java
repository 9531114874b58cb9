/** What every command stands on: its host, its connection to the controller, its output and errors. */
package dev.muster.cli.command;

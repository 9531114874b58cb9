/** Options of commands: parsing, checks, help, environment variables and cli_filter. */
package dev.muster.cli.option;

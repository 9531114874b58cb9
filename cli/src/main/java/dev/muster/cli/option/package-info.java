/** Options of commands: parsing, checks and help. */
package dev.muster.cli.option;

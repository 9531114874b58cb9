/** {@code sreport}: reports of use. */
package dev.muster.cli.report;

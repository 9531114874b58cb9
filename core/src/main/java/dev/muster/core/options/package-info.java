/** Options of the settings: texts by name in the journal, typed values for the rules, parsed once. */
package dev.muster.core.options;

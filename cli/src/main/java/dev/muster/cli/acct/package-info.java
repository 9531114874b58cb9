/** sacctmgr: one table of entities, conditions and columns, and the texts around it. */
package dev.muster.cli.acct;

/** The database: connections, dialects, encryption, migrations. */
package dev.muster.accounting.db;

/** Signed sessions, the small client, the server, and frames of streams. */
package dev.muster.transport;

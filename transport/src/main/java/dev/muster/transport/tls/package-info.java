/** Encryption of connections: certificates and keys as files, and what each side of a connection needs of them. */
package dev.muster.transport.tls;

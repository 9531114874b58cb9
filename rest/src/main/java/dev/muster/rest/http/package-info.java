/** Connections and HTTP, bounded in bytes, time and count. */
package dev.muster.rest.http;

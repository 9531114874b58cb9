/** The operations of the API: one handler for each path and method. */
package dev.muster.rest.operation;

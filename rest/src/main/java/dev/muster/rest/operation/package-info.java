/** The operations of the API: what each path and method does. */
package dev.muster.rest.operation;

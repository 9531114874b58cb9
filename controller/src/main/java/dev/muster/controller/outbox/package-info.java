/** Records of finished jobs that wait for the server that they go to. */
package dev.muster.controller.outbox;

/** Reservations: creation, update, and the choice of their nodes. */
package dev.muster.core.reservation;

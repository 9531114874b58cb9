/** What a pending job asks for, in the form in which a pass compares it with nodes. */
package dev.muster.scheduler.request;

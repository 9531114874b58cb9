/** The web page of the cluster: its files, its feeds and its sessions. */
package dev.muster.rest.page;

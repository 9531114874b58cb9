/** Jobs, nodes, steps and policies as queries and launches show them. */
package dev.muster.controller.view;

/** Steps: their resources, layouts, task bindings and ports. */
package dev.muster.core.step;

/** Start and supervision of slurmstepd, and the specification that it is given. */
package dev.muster.node.step;

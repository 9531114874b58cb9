/** Confinement of steps: control groups, namespaces, containers, CPU and memory binding. */
package dev.muster.node.cgroup;

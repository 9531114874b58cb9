/** Reading of configuration files: lines, includes, pairs, YAML. */
package dev.muster.config.file;

/** sh5util: profiles of steps, merged and extracted. */
package dev.muster.cli.profile;

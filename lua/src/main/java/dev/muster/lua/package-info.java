/**
 * What the site's Lua scripts have in common, in the daemons and in the commands. Nothing of it is loaded where no
 * script is configured.
 */
package dev.muster.lua;

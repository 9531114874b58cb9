/**
 * job_submit.lua: a site's script that sees, changes or refuses what is submitted. Loaded only where JobSubmitPlugins
 * names lua.
 */
package dev.muster.controller.lua;

/** The site's own programs: prologs, mail, power saving, burst buffers, job completion. */
package dev.muster.controller.site;

/** The schemas of the API by version: reading of bodies and writing of answers. */
package dev.muster.rest.contract;

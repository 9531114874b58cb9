/** JSON and the codec of records. Adapters read and write by generated code; {@code Codec} is the door. */
package dev.muster.json;

package dev.muster.model;

/** Reads and writes the components of one type of record; made by {@link RecordCoders}. */
abstract class RecordCoder {
    /** Writes what is not absent, without the brace at the end. @param separator before the first of it. @return what would stand before another */
    abstract char write(Json.Writer out, Object record, char separator);

    /** The same for the component at one place. */
    abstract char write(Json.Writer out, Object record, int place, char separator);

    /** @param first the place of the field whose value stands next, or {@link JsonReader#NO_MORE} */
    abstract Object read(JsonReader in, int first);
}

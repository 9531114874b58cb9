package dev.muster.model;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.util.Optional;

/**
 * Class files of {@link RecordCoder}s, made when the programs are installed. With them on the class path a program neither makes those classes
 * itself nor goes through method handles until it has.
 *
 * @param name of the class
 */
public record CoderFiles(String name, byte[] code) {
    /** Says that there are others. */
    public static CoderFiles mark() {
        return new CoderFiles(RecordCoders.MARK, ClassFile.of().build(ClassDesc.of(RecordCoders.MARK), c -> { }));
    }

    /** @return nothing for what is no record of the protocol */
    public static Optional<CoderFiles> of(Class<?> type) {
        if (!type.isRecord()) {
            return Optional.empty();
        }
        try {
            RecordShape shape = (RecordShape) Shape.of(type);
            return RecordCoders.classFile(shape).map(code -> new CoderFiles(RecordCoders.readyName(shape), code));
        } catch (IllegalArgumentException | ClassCastException hasNoForm) {
            return Optional.empty();
        }
    }
}

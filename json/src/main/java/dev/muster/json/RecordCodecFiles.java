package dev.muster.json;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.util.Optional;

/**
 * Class files of {@link RecordCodec}s, made when the programs are installed. With them on the class path a program
 * neither makes those classes itself nor goes through method handles until it has.
 *
 * @param name of the class
 */
public record RecordCodecFiles(String name, byte[] code) {
    /** Says that there are others. */
    public static RecordCodecFiles mark() {
        return new RecordCodecFiles(
                RecordCodecGenerator.MARK, ClassFile.of().build(ClassDesc.of(RecordCodecGenerator.MARK), c -> {}));
    }

    /** Returns nothing for what is no record of the protocol. */
    public static Optional<RecordCodecFiles> of(Class<?> type) {
        if (!type.isRecord()) {
            return Optional.empty();
        }
        try {
            RecordAdapter shape = (RecordAdapter) JsonAdapter.of(type);
            return RecordCodecGenerator.classFile(shape)
                    .map(code -> new RecordCodecFiles(RecordCodecGenerator.readyName(shape), code));
        } catch (IllegalArgumentException | ClassCastException hasNoForm) {
            return Optional.empty();
        }
    }
}

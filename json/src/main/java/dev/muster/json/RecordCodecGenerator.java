package dev.muster.json;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_byte;
import static java.lang.constant.ConstantDescs.CD_char;
import static java.lang.constant.ConstantDescs.CD_double;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.MTD_void;
import static java.util.Objects.requireNonNull;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes {@link RecordCodec}s: classes as one would write them by hand, a call of each accessor, a test and a write, and
 * for reading a local variable for each component and one call of the constructor. Numbers are never boxed; what is of
 * another kind goes through its {@link JsonAdapter}, which is a constant of the class, so that the compiler sees
 * through it.
 */
final class RecordCodecGenerator {
    /** More would be longer than what the virtual machine compiles, 8,000 bytes. */
    private static final int COMPONENTS_MAX = 200;

    private static final ClassDesc CODER = ClassDesc.of("dev.muster.json.RecordCodec");
    private static final String MADE = "dev.muster.json.RecordCodec$Made";
    /** Stands beside the coders that were made when this was installed. */
    static final String MARK = "dev.muster.json.CodersAreHere";

    private static final boolean READY = isThere(MARK);
    private static final ClassDesc READER = ClassDesc.of("dev.muster.json.JsonReader");
    private static final ClassDesc FIELDS = ClassDesc.of("dev.muster.json.JsonReader$Fields");
    private static final ClassDesc WRITER = ClassDesc.of("dev.muster.json.Json$Writer");
    private static final ClassDesc SHAPE = ClassDesc.of("dev.muster.json.JsonAdapter");
    private static final ClassDesc BYTES = CD_byte.arrayType();
    private static final MethodTypeDesc WRITE = MethodTypeDesc.of(CD_char, WRITER, CD_Object, CD_char);
    private static final MethodTypeDesc WRITE_ONE = MethodTypeDesc.of(CD_char, WRITER, CD_Object, CD_int, CD_char);
    private static final MethodTypeDesc READ = MethodTypeDesc.of(CD_Object, READER, CD_int);

    private final Class<?> type;
    private final ClassDesc record;
    private final RecordComponent[] components;
    private final RecordAdapter shape;

    /** The coder's own name. */
    private final ClassDesc made;

    private RecordCodecGenerator(RecordAdapter shape, String name) {
        this.shape = shape;
        made = ClassDesc.of(name);
        type = shape.type();
        record = type.describeConstable().orElseThrow();
        components = type.getRecordComponents();
    }

    /** Returns nothing for a record that this package cannot see, or that is too large. */
    static Optional<RecordCodec> make(RecordAdapter shape) {
        RecordCodecGenerator maker = new RecordCodecGenerator(shape, MADE);
        return maker.isPossible() ? Optional.of(maker.make()) : Optional.empty();
    }

    /**
     * One that was made at installation: a class like any other, which the start-up caches hold, and what was learned
     * of it when they were made.
     */
    static Optional<RecordCodec> ready(RecordAdapter shape) {
        return READY ? named(shape) : Optional.empty();
    }

    /** The class of that name, if there is one. */
    static Optional<RecordCodec> named(RecordAdapter shape) {
        RecordCodecGenerator maker = new RecordCodecGenerator(shape, readyName(shape));
        try {
            return Optional.ofNullable(RecordCodec.first(
                    maker.constants(),
                    () -> Class.forName(readyName(shape), true, RecordCodecGenerator.class.getClassLoader())));
        } catch (ReflectiveOperationException notAmongThem) {
            return Optional.empty();
        }
    }

    private static boolean isThere(String name) {
        try {
            Class.forName(name, false, RecordCodecGenerator.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Says of what form the record was: one of another form is not found. */
    static String readyName(RecordAdapter shape) {
        int form = 0;
        for (RecordComponent c : shape.type().getRecordComponents()) {
            form = (form * 31 + c.getName().hashCode()) * 31
                    + c.getType().getName().hashCode();
        }
        return "dev.muster.json.Coder$"
                + shape.type().getName().replace('.', '_').replace('$', '_') + '_' + Integer.toHexString(form);
    }

    /**
     * The class file of {@link #ready}.
     *
     * @return nothing for a record that goes without
     */
    static Optional<byte[]> classFile(RecordAdapter shape) {
        RecordCodecGenerator maker = new RecordCodecGenerator(shape, readyName(shape));
        return maker.isPossible() ? Optional.of(ClassFile.of().build(maker.made, maker::body)) : Optional.empty();
    }

    private boolean isPossible() {
        if (components.length > COMPONENTS_MAX || !isVisible(type)) {
            return false;
        }
        for (RecordComponent c : components) {
            if (!isVisible(c.getType())) {
                return false;
            }
        }
        return true;
    }

    private static boolean isVisible(Class<?> type) {
        if (type.isPrimitive()) {
            return true;
        }
        boolean isNear = type.getPackageName().equals(RecordCodecGenerator.class.getPackageName());
        for (Class<?> at = type; at != null; at = at.getEnclosingClass()) {
            if (!Modifier.isPublic(at.getModifiers()) && (!isNear || Modifier.isPrivate(at.getModifiers()))) {
                return false;
            }
        }
        return type.getClassLoader() == null || type.getClassLoader() == RecordCodecGenerator.class.getClassLoader();
    }

    private RecordCodec make() {
        byte[] code = ClassFile.of().build(made, this::body);
        try {
            return requireNonNull(
                    RecordCodec.first(constants(), () -> MethodHandles.lookup().defineHiddenClass(code, true)),
                    "a hidden class begins now");
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new IllegalStateException("no coder for " + type, e);
        }
    }

    /** The values of the codec's fields. */
    private Object[] constants() {
        List<Object> constants = new ArrayList<>();
        constants.add(shape.fields());
        for (int i = 0; i < components.length; i++) {
            constants.add(shape.fields().head(i));
            constants.add(shape.shape(i));
            constants.add(
                    isPlain(i) || shape.shape(i) instanceof JsonAdapters.Tree
                            ? null
                            : shape.shape(i).absent());
        }
        return constants.toArray();
    }

    /** Whether its value is a number, a word of the machine or a string: written without a shape. */
    private boolean isPlain(int i) {
        return components[i].getType().isPrimitive() || components[i].getType() == String.class;
    }

    private void body(ClassBuilder into) {
        into.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER).withSuperclass(CODER);
        into.withField("fields", FIELDS, ClassFile.ACC_STATIC | ClassFile.ACC_FINAL);
        for (int i = 0; i < components.length; i++) {
            into.withField("head" + i, BYTES, ClassFile.ACC_STATIC | ClassFile.ACC_FINAL);
            into.withField("shape" + i, SHAPE, ClassFile.ACC_STATIC | ClassFile.ACC_FINAL);
            into.withField("none" + i, CD_Object, ClassFile.ACC_STATIC | ClassFile.ACC_FINAL);
        }
        into.withMethodBody("<clinit>", MTD_void, ClassFile.ACC_STATIC, this::begin);
        into.withMethodBody(
                "<init>",
                MTD_void,
                0,
                c -> c.aload(0).invokespecial(CODER, "<init>", MTD_void).return_());
        into.withMethodBody("write", WRITE, 0, this::writeAll);
        into.withMethodBody("write", WRITE_ONE, 0, this::writeOne);
        into.withMethodBody("read", READ, 0, this::read);
    }

    private void begin(CodeBuilder code) {
        code.invokestatic(CODER, "handed", MethodTypeDesc.of(CD_Object.arrayType()))
                .astore(0);
        code.aload(0).loadConstant(0).aaload().checkcast(FIELDS).putstatic(made, "fields", FIELDS);
        for (int i = 0; i < components.length; i++) {
            code.aload(0).loadConstant(1 + 3 * i).aaload().checkcast(BYTES).putstatic(made, "head" + i, BYTES);
            code.aload(0).loadConstant(2 + 3 * i).aaload().checkcast(SHAPE).putstatic(made, "shape" + i, SHAPE);
            code.aload(0).loadConstant(3 + 3 * i).aaload().putstatic(made, "none" + i, CD_Object);
        }
        code.new_(made)
                .dup()
                .invokespecial(made, "<init>", MTD_void)
                .invokestatic(CODER, "isFirst", MethodTypeDesc.of(CD_void, CODER))
                .return_();
    }

    /** Locals: 1 the writer, 2 the record, 3 the separator, 4 the record as it is, 5 a value. */
    private void writeAll(CodeBuilder code) {
        code.aload(2).checkcast(record).astore(4);
        for (int i = 0; i < components.length; i++) {
            writeField(code, i, 3, 4, 5);
        }
        code.iload(3).ireturn();
    }

    /** Locals: 1 the writer, 2 the record, 3 the place, 4 the separator, 5 the record as it is, 6 a value. */
    private void writeOne(CodeBuilder code) {
        code.aload(2).checkcast(record).astore(5);
        Label end = code.newLabel();
        List<SwitchCase> cases = new ArrayList<>();
        for (int i = 0; i < components.length; i++) {
            cases.add(SwitchCase.of(i, code.newLabel()));
        }
        if (!cases.isEmpty()) {
            code.iload(3).tableswitch(end, cases);
        }
        for (int i = 0; i < components.length; i++) {
            code.labelBinding(cases.get(i).target());
            writeField(code, i, 4, 5, 6);
            code.goto_(end);
        }
        code.labelBinding(end).iload(4).ireturn();
    }

    private void writeField(CodeBuilder code, int i, int separator, int typed, int value) {
        Class<?> kind = components[i].getType();
        ClassDesc of = kind.describeConstable().orElseThrow();
        if (!isPlain(i)) {
            code.getstatic(made, "shape" + i, SHAPE).aload(1).iload(separator).getstatic(made, "head" + i, BYTES);
            code.aload(typed).invokevirtual(record, components[i].getName(), MethodTypeDesc.of(of));
            code.invokeinterface(SHAPE, "writeField", MethodTypeDesc.of(CD_char, WRITER, CD_char, BYTES, CD_Object))
                    .istore(separator);
            return;
        }
        Label absent = code.newLabel();
        code.aload(typed)
                .invokevirtual(record, components[i].getName(), MethodTypeDesc.of(of))
                .storeLocal(TypeKind.from(kind), value);
        if (kind == long.class) {
            code.lload(value).lconst_0().lcmp().ifeq(absent);
        } else if (kind == double.class) {
            // as Double.equals: what is not 0.0 to the bit is something
            code.dload(value)
                    .invokestatic(
                            ClassDesc.of("java.lang.Double"),
                            "doubleToLongBits",
                            MethodTypeDesc.of(CD_long, CD_double));
            code.lconst_0().lcmp().ifeq(absent);
        } else if (kind == String.class) {
            code.aload(value)
                    .ifnull(absent)
                    .aload(value)
                    .invokevirtual(CD_String, "isEmpty", MethodTypeDesc.of(CD_boolean))
                    .ifne(absent);
        } else {
            code.iload(value).ifeq(absent);
        }
        code.aload(1)
                .iload(separator)
                .getstatic(made, "head" + i, BYTES)
                .invokevirtual(WRITER, "field", MethodTypeDesc.of(CD_char, CD_char, BYTES))
                .istore(separator);
        code.aload(1);
        if (kind == long.class) {
            code.lload(value).invokevirtual(WRITER, "number", MethodTypeDesc.of(WRITER, CD_long));
        } else if (kind == double.class) {
            code.dload(value)
                    .invokestatic(
                            ClassDesc.of("java.lang.Double"),
                            "valueOf",
                            MethodTypeDesc.of(ClassDesc.of("java.lang.Double"), CD_double))
                    .invokevirtual(WRITER, "value", MethodTypeDesc.of(WRITER, CD_Object));
        } else if (kind == String.class) {
            code.aload(value).invokevirtual(WRITER, "text", MethodTypeDesc.of(WRITER, CD_String));
        } else if (kind == boolean.class) {
            code.ldc("true").invokevirtual(WRITER, "raw", MethodTypeDesc.of(WRITER, CD_String));
        } else if (kind == int.class) {
            code.iload(value).i2l().invokevirtual(WRITER, "number", MethodTypeDesc.of(WRITER, CD_long));
        } else {
            throw new IllegalArgumentException("no JSON form for " + kind);
        }
        code.pop().labelBinding(absent);
    }

    /** Locals: 1 the reader, 2 the place that is read, from 3 on the components. */
    private void read(CodeBuilder code) {
        int[] locals = new int[components.length];
        int free = 3;
        for (int i = 0; i < components.length; i++) {
            locals[i] = free;
            TypeKind kind = kindOf(i);
            free += kind.slotSize();
            switch (kind) {
                case INT, BOOLEAN -> code.iconst_0();
                case LONG -> code.lconst_0();
                case DOUBLE -> code.dconst_0();
                default -> absent(code, i);
            }
            code.storeLocal(kind, locals[i]);
        }
        Label loop = code.newLabel();
        Label build = code.newLabel();
        Label next = code.newLabel();
        List<SwitchCase> cases = new ArrayList<>();
        for (int i = 0; i < components.length; i++) {
            cases.add(SwitchCase.of(i, code.newLabel()));
        }
        code.labelBinding(loop).iload(2);
        if (cases.isEmpty()) {
            code.pop().goto_(build);
        } else {
            code.tableswitch(build, cases);
        }
        for (int i = 0; i < components.length; i++) {
            code.labelBinding(cases.get(i).target());
            value(code, i);
            code.storeLocal(kindOf(i), locals[i]).goto_(next);
        }
        code.labelBinding(next)
                .aload(1)
                .getstatic(made, "fields", FIELDS)
                .iload(2)
                .loadConstant(1)
                .iadd()
                .invokevirtual(READER, "next", MethodTypeDesc.of(CD_int, FIELDS, CD_int))
                .istore(2)
                .goto_(loop);
        code.labelBinding(build).new_(record).dup();
        List<ClassDesc> parameters = new ArrayList<>();
        for (int i = 0; i < components.length; i++) {
            ClassDesc of = components[i].getType().describeConstable().orElseThrow();
            parameters.add(of);
            code.loadLocal(kindOf(i), locals[i]);
            if (!isPlain(i)) {
                code.checkcast(of);
            }
        }
        code.invokespecial(record, "<init>", MethodTypeDesc.of(CD_void, parameters))
                .areturn();
    }

    private TypeKind kindOf(int i) {
        return TypeKind.from(components[i].getType());
    }

    private void absent(CodeBuilder code, int i) {
        if (components[i].getType() == String.class) {
            code.ldc("");
        } else if (shape.shape(i) instanceof JsonAdapters.Tree) {
            code.getstatic(made, "shape" + i, SHAPE).invokeinterface(SHAPE, "absent", MethodTypeDesc.of(CD_Object));
        } else {
            code.getstatic(made, "none" + i, CD_Object);
        }
    }

    private void value(CodeBuilder code, int i) {
        Class<?> kind = components[i].getType();
        if (!isPlain(i)) {
            code.getstatic(made, "shape" + i, SHAPE)
                    .aload(1)
                    .invokeinterface(SHAPE, "read", MethodTypeDesc.of(CD_Object, READER));
            return;
        }
        String how;
        if (kind == int.class) {
            how = "whole";
        } else if (kind == long.class) {
            how = "wholeLong";
        } else if (kind == double.class) {
            how = "real";
        } else if (kind == boolean.class) {
            how = "flag";
        } else {
            how = "text";
        }

        code.aload(1)
                .invokevirtual(
                        READER, how, MethodTypeDesc.of(kind.describeConstable().orElseThrow()));
    }
}

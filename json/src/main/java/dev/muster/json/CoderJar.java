package dev.muster.json;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Writes the {@link RecordCodecFiles} of all records of the class path into a jar, which then belongs on that class
 * path.
 */
public final class CoderJar {
    private static final String OURS = "dev/muster/";
    private static final String CLASS = ".class";

    private CoderJar() {}

    /** The jar to be written. */
    public static void main(String[] args) throws IOException {
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(Path.of(args[0])))) {
            put(jar, RecordCodecFiles.mark());
            for (String name : names()) {
                Optional<RecordCodecFiles> file = of(name);
                if (file.isPresent()) {
                    put(jar, file.get());
                }
            }
        }
    }

    private static void put(JarOutputStream jar, RecordCodecFiles file) throws IOException {
        JarEntry entry = new JarEntry(file.name().replace('.', '/') + CLASS);
        entry.setTime(0);
        jar.putNextEntry(entry);
        jar.write(file.code());
        jar.closeEntry();
    }

    private static TreeSet<String> names() throws IOException {
        TreeSet<String> names = new TreeSet<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            try (JarFile jar = new JarFile(path)) {
                jar.stream()
                        .map(JarEntry::getName)
                        .filter(n -> n.startsWith(OURS) && n.endsWith(CLASS))
                        .forEach(n -> names.add(
                                n.substring(0, n.length() - CLASS.length()).replace('/', '.')));
            }
        }
        return names;
    }

    /** A class that needs what this class path has not is none that its programs use. */
    private static Optional<RecordCodecFiles> of(String name) {
        try {
            return RecordCodecFiles.of(Class.forName(name, false, CoderJar.class.getClassLoader()));
        } catch (ClassNotFoundException | LinkageError e) {
            return Optional.empty();
        }
    }
}

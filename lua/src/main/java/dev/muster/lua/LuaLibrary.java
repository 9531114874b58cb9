package dev.muster.lua;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import party.iroiro.luajava.lua54.Lua54;
import party.iroiro.luajava.lua54.Lua54Natives;

/**
 * Loads PUC-Rio's Lua, once in a process and only when the first script is read. An installation has it as a file in
 * {@code lib/muster/lua}. Where that is missing (tests) it is copied out of its jar into a new directory of our own:
 * the binding's loader would use a place in /tmp with a name that other users can foresee.
 */
final class LuaLibrary {
    private static boolean loaded;

    private LuaLibrary() {}

    /** The name of this machine's architecture in the C compiler. */
    static String architecture() {
        return System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
    }

    private static String fileName() {
        return switch (architecture()) {
            case "x86_64" -> "liblua5464.so";
            case "aarch64" -> "liblua54arm64.so";
            default -> throw new ScriptError("no Lua for the architecture " + architecture());
        };
    }

    static synchronized Lua54 newState() {
        if (!loaded) {
            try {
                load();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (ReflectiveOperationException | URISyntaxException | LinkageError e) {
                throw new IllegalStateException("cannot load Lua: " + e, e);
            }
            loaded = true;
        }
        return new Lua54();
    }

    private static void load() throws IOException, ReflectiveOperationException, URISyntaxException {
        Path jar = Path.of(LuaLibrary.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Path installed = jar.resolveSibling("../../lua").resolve(fileName()).normalize();
        if (Files.exists(installed)) {
            bind(installed);
            return;
        }
        Path dir = Files.createTempDirectory("muster-lua");
        Path copy = dir.resolve(fileName());
        try (InputStream in = LuaLibrary.class.getResourceAsStream("/" + fileName())) {
            if (in == null) {
                throw new IOException(installed + ": No such file or directory");
            }
            Files.copy(in, copy);
            bind(copy);
        } finally {
            Files.deleteIfExists(copy);
            Files.delete(dir);
        }
    }

    /**
     * Loads the library like the binding's constructor after its search. C modules of scripts need Lua's symbols, so
     * they are made global.
     */
    @SuppressWarnings({"unchecked", "restricted"})
    private static void bind(Path library) throws ReflectiveOperationException {
        System.load(library.toString());
        Method init = Lua54Natives.class.getDeclaredMethod("initBindings");
        init.setAccessible(true);
        init.invoke(null);
        Field path = Lua54Natives.class.getDeclaredField("loaded");
        path.setAccessible(true);
        ((AtomicReference<String>) path.get(null)).set(library.toString());
        try (Lua54 first = new Lua54()) {
            first.getLuaNatives().loadAsGlobal();
        }
    }
}

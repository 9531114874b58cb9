package dev.muster.lua;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.luaj.vm2.LuaValue;

class SandboxTest {
    /** As Lua 5.1 prints it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        string.format('%.2f', 3.14159)           | 3.14
        string.format('%5.1f]', 2.25)            | `  2.2]`
        string.format('%-6.1f]', 2.5)            | `2.5   ]`
        string.format('%06.2f', -1.5)            | -01.50
        string.format('%+.0f', 2.5)              | +2
        string.format('%f', 1)                   | 1.000000
        string.format('%.0f', 4294967294)        | 4294967294
        string.format('%g %g', 0.1, 100000)      | 0.1 100000
        string.format('%g', 1e20)                | 1e+20
        string.format('%G', 0.00001)             | 1E-05
        string.format('%.3e', 12346)             | 1.235e+04
        string.format('%d%% of %s', 5, 'x')      | 5% of x
        string.format('%s %5d %x %q', 'a', 3, 255, 'b') | `a     3 ff "b"`
        ('%.1f'):format(2)                       | 2.0
        tostring(4294967294)                     | 4294967294
        tostring(18446744073709551615)           | 1.844674407371e+19
        tostring(-3.14159265)                    | -3.14159265
        tostring(nil) .. tostring(true) .. tostring('x') | niltruex
        string.format('%s %s', 0.1, 1e9)         | 0.1 1000000000
        type(unpack) .. type(luajava)            | functionnil
        """)
    void format(String expression, String said) {
        assertThat(Sandbox.ofCommand().load("return " + expression, "t").call().tojstring()).isEqualTo(said);
    }

    @Test
    void whatTwoAppendStandsThereOneAfterTheOther(@TempDir Path dir) throws IOException {
        Path file = Files.writeString(dir.resolve("log"), "first\n");
        LuaValue open = Sandbox.ofCommand().load("return io.open(..., 'a')", "t");
        LuaValue a = open.call(file.toString());
        LuaValue b = open.call(file.toString());
        LuaValue write = Sandbox.ofCommand().load("local f, t = ...; f:write(t, ' ', 1); f:write(' end\\n')", "t");
        write.call(a, LuaValue.valueOf("a"));
        write.call(b, LuaValue.valueOf("b"));
        write.call(a, LuaValue.valueOf("a"));
        assertThat(file).hasContent("first\na 1 end\nb 1 end\na 1 end\n");
        Sandbox.ofCommand().load("local f = ...; f:write('half'); assert(f:seek('end') > 4); f:setvbuf('no'); f:write(' and'); f:write(' more')"
                + " f:close() assert(not pcall(f.write, f, 'x')) assert(io.type(f) == 'closed file')", "t").call(b);
        assertThat(Files.readString(file)).endsWith("a 1 end\nhalf and more");
        assertThat(Sandbox.ofCommand().load("local f, e = io.open('/nowhere/at/all', 'a'); return e", "t").call().tojstring())
                .contains("/nowhere/at/all");
        assertThat(Sandbox.ofCommand().load("local f = io.open(..., 'a'); local ok, e = f:read('*l'); return tostring(ok)", "t")
                .call(file.toString()).tojstring()).isEqualTo("nil");
    }

    @Test
    void whatDoesNotEndIsEnded() {
        long until = System.nanoTime() + 50_000_000;
        assertThatThrownBy(() -> Sandbox.ofDaemon(() -> until).load("while true do pcall(string.rep) end", "t").call())
                .isInstanceOf(Sandbox.TimeOver.class)
                .hasMessageContaining("time limit");
        assertThatThrownBy(() -> Sandbox.ofDaemon(() -> Long.MAX_VALUE).load("os.exit(1)", "t").call()).hasMessageContaining("not for scripts");
    }
}

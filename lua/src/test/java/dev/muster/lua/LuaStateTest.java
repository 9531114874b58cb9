package dev.muster.lua;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.json.Bytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LuaStateTest {
    private static final String HELPERS = """
            function sh(c, f) local h = io.popen(c) local t = h:read(f or '*a') h:close() return t end
            function closed(c) local h = io.popen(c) h:read('*a') local a, b, n = h:close() return tostring(a)..' '..b..' '..n end
            function err(f, ...) local ok, e = pcall(f, ...) return not ok and e end
            function file(text)
              local n = os.tmpname()
              local f = io.open(n, 'w') f:write(text) f:close()
              f = io.open(n) os.remove(n)
              return f
            end
            function java_object_of(f)
              for i = 1, 20 do
                local _, inner = debug.getupvalue(f, i)
                if type(inner) == 'function' then
                  local _, object = debug.getupvalue(inner, 1)
                  if type(object) == 'userdata' then return object end
                end
              end
              return nil
            end
            """;

    private static String evaluate(LuaState state, String expression) {
        state.load(HELPERS.getBytes(StandardCharsets.UTF_8), "helpers");
        return String.valueOf(
                state.load(("return tostring(" + expression + ")").getBytes(StandardCharsets.UTF_8), "t"));
    }

    /** Lua's manual defines these. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        file('a\\nb\\n'):read('*all')                | `a\nb\n`
        file('a\\nb\\n'):read('*line')               | a
        file('a\\nb\\n'):read('*L')                  | `a\n`
        file('a\\nb\\n'):read('L')                   | `a\n`
        file('17 x'):read('*number')                 | 17
        file('0x1F x'):read('n')                     | 31
        file('abcdef'):read(3)                       | abc
        file(''):read('*l')                          | nil
        file(''):read('a')                           | ``
        table.concat({file('1 2'):read('n', 'n')}, ',') | 1,2
        #{file('x\\ny\\nz'):lines()()}               | 1
        file('abc'):seek('end')                      | 3
        io.type(file('x'))                           | file
        io.type(7)                                   | nil
        sh('echo hi; echo ho')                       | `hi\nho\n`
        sh('echo abc \\x7c tr a-c A-C', '*l')      | ABC
        sh("X=1; echo 'a  b' $X", 'l')               | a  b 1
        sh('ls /nowhere 2>/dev/null; echo done', 'l') | done
        closed('true')                               | true exit 0
        closed('exit 3')                             | nil exit 3
        closed('kill -9 $$')                         | nil signal 9
        select('#', io.popen('true'):close())        | 3
        table.concat({select(2, os.execute('exit 3'))}, ' ') | exit 3
        os.execute('test 1 = 1 && true')             | true
        os.execute()                                 | true
        string.format('%d', 4294967294)              | 4294967294
        string.format('%d', 4294967294.0)            | 4294967294
        string.format('%x %X %o', 4294967295, 255, 8) | ffffffff FF 10
        string.format('%d', math.maxinteger)         | 9223372036854775807
        string.format('%s %s', 0.1, 1e9)             | 0.1 1000000000.0
        string.format('%q', 'a\\n"')                 | `"a\\\n\\""`
        string.format('%q', 1/3)                     | 0x1.5555555555555p-2
        string.format('%g %g', 0.1, 1e20)            | 0.1 1e+20
        string.format('%5.2f;%-5d;%05d;%+d', 3.14159, 3, 42, 1) | ` 3.14;3    ;00042;+1`
        string.format('%c%c', 72, 105)               | Hi
        string.format('%a', 1)                       | 0x1p+0
        string.format('%i', 3)                       | 3
        string.format('%10.3s]', 'abcdef')           | `       abc]`
        err(string.format, '%d', 1.5) | bad argument #2 to 'string.format' (number has no integer representation)
        err(string.format, '%d')                     | bad argument #2 to 'string.format' (no value)
        string.find('THE (quick) fox', '%f[%a]%a+%f[%A]') | 1
        string.find('abc', '%f[%A]')                 | 4
        string.gsub('hello world', '%f[%w]%w+', string.upper) | HELLO WORLD
        ('x'):rep(3, ',')                            | x,x,x
        ('key = value'):match('^(%w+)%s*=%s*(%w+)$') | key
        ('f(a(b)c)d'):match('%b()')                  | (a(b)c)
        ('a,b,c'):gsub(',', ';')                     | a;b;c
        ('äö'):len()                                 | 4
        utf8.len('äö')                               | 2
        utf8.char(228, 8364)                         | ä€
        string.pack('>I4', 258):byte(3)              | 1
        string.unpack('<i8', string.pack('<i8', -5)) | -5
        os.date('!%Y-%m-%d %H:%M:%S', 0)             | 1970-01-01 00:00:00
        tonumber(os.date('%s')) >= os.time() - 1     | true
        os.date('!*t', 86400).yday                   | 2
        os.time({year=2030, month=1, day=1, hour=12}) > 1893400000 | true
        os.getenv('NOSUCH_VARIABLE')                 | nil
        os.rename('/nowhere', '/tmp')                | nil
        select(2, os.remove('/nowhere/x'))           | /nowhere/x: No such file or directory
        select(3, io.open('/nowhere/x'))             | 2
        os.tmpname():match('^/tmp/lua_') ~= nil      | true
        7 // 2 .. ' ' .. -7 // 2 .. ' ' .. 7 / 2     | 3 -4 3.5
        7 % -3                                       | -2
        (5 & 3) .. (5 ~ 3) .. (~0 >> 60) .. (1 << 4) | 161516
        math.type(1) .. math.type(1.0)               | integerfloat
        1e15                                         | 1e+15
        2^53                                         | 9.007199254741e+15
        10 // 0.0                                    | inf
        math.tointeger('8')                          | 8
        tonumber('0x10') + tonumber('  12  ')        | 28
        tonumber('z', 36)                            | 35
        #table.pack(table.unpack({1, 2, 3}))         | 3
        table.concat(table.move({1, 2, 3}, 2, 3, 1), ',') | 2,3,3
        (function() for i = 1, 3 do for j = 1, 3 do if j == 2 then goto on end end ::on:: end return 'goto' end)() | goto
        setmetatable({}, {__index = function(t, k) return k .. '!' end}).x | x!
        setmetatable({}, {__tostring = function() return 'me' end}) | me
        setmetatable({}, {__call = function(self, a) return a end})(9) | 9
        #setmetatable({}, {__len = function() return 42 end}) | 42
        setmetatable({}, {__concat = function() return 'cc' end}) .. 'x' | cc
        select(2, pcall(error, {code = 5})).code     | 5
        err(error, 'plain', 0)                       | plain
        err(function() error('here') end)            | t:1: here
        err(function() local x; return x.y end)      | t:1: attempt to index a nil value (local 'x')
        err(function() return nosuch() end)          | t:1: attempt to call a nil value (global 'nosuch')
        select(2, xpcall(error, function(e) return 'got ' .. e end, 'x')) | got x
        coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b end)(1) | 2
        select(2, coroutine.resume(coroutine.create(function() error('in') end))) | t:1: in
        coroutine.isyieldable()                      | false
        load('return 1 + 1')()                       | 2
        select(2, load('x ='))                       | [string "x ="]:1: unexpected symbol near <eof>
        select('#', 1, nil, nil)                     | 3
        rawlen({1, 2}) .. rawget({5}, 1)             | 25
        next({})                                     | nil
        type(debug.traceback())                      | string
        collectgarbage('count') > 0                  | true
        _VERSION                                     | Lua 5.4
        """)
    void luaLibraryFunctionsWork(String expression, String said) {
        try (LuaState state = LuaState.ofDaemon(() -> Long.MAX_VALUE)) {
            assertThat(evaluate(state, expression)).isEqualTo(said);
        }
        try (LuaState state = LuaState.ofCommand()) {
            assertThat(evaluate(state, expression)).isEqualTo(said);
        }
    }

    /** What scripts for Lua 5.1 to 5.3 use. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        unpack({4})                                  | 4
        loadstring('return 3')()                     | 3
        table.getn({1, 2})                           | 2
        table.maxn({[7] = 1})                        | 7
        table.foreach({5}, function(k, v) return v end) | 5
        string.gfind('abc', '.')()                   | a
        math.pow(2, 3)                               | 8.0
        math.ldexp(1, 4)                             | 16.0
        math.frexp(8)                                | 0.5
        math.log10(100)                              | 2.0
        bit32.band(0xFF, 0x0F)                       | 15
        bit32.bor(1, 4) + bit32.lshift(1, 4)         | 21
        bit32.bnot(0)                                | 4294967295
        bit32.arshift(0x80000000, 31)                | 4294967295
        bit32.extract(0xF0, 4, 4)                    | 15
        bit32.lrotate(0x80000001, 1)                 | 3
        bit32.btest(6, 1)                            | false
        (function() local f = function() return marked end setfenv(f, {marked = 'm'}) return f() end)() | m
        getfenv(1) == _G                             | true
        #package.loaders                             | 4
        """)
    void functionsOfOlderLuaVersionsWork(String expression, String said) {
        try (LuaState state = LuaState.ofCommand()) {
            assertThat(evaluate(state, expression)).isEqualTo(said);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        type(luajava) .. type(java)                                        | nilnil
        pcall(require, 'java')                                             | false
        pcall(require, 'luajava')                                          | false
        pcall(require, 'java.lang.System')                                 | false
        #package.searchers                                                 | 4
        type(debug.getregistry)                                            | nil
        java_object_of(hosted)                                             | nil
        """)
    void javaIsOutOfReach(String expression, String said) {
        try (LuaState state = LuaState.ofCommand()) {
            state.set("hosted", (LuaFunction) a -> 1L);
            assertThat(evaluate(state, expression)).isEqualTo(said);
        }
    }

    @Test
    void modulesAreFoundInTheDistributionsPlacesAndInLuaPaths(@TempDir Path dir) throws IOException {
        Files.writeString(
                dir.resolve("mine.lua"), "module('mine', package.seeall) function twice(x) return tostring(x * 2) end");
        Files.writeString(dir.resolve("modern.lua"), "return { name = ... }");
        try (LuaState state = LuaState.ofCommand()) {
            assertThat(evaluate(state, "package.path"))
                    .contains(
                            "/usr/local/share/lua/5.4/?.lua",
                            "/usr/share/lua/5.4/?.lua",
                            "/usr/share/lua/5.1/?.lua",
                            "./?.lua");
            assertThat(evaluate(state, "package.cpath")).contains("/usr/local/lib/lua/5.4/?.so");
            assertThat(evaluate(state, "err(require, 'no.such')"))
                    .contains("no field package.preload['no.such']", "no file '/usr/share/lua/5.4/no/such.lua'");
            state.load(("package.path = '" + dir + "/?.lua;' .. package.path").getBytes(StandardCharsets.UTF_8), "t");
            assertThat(evaluate(state, "require('modern').name")).isEqualTo("modern");
            assertThat(evaluate(state, "require('mine').twice(4)")).isEqualTo("8");
        }
    }

    @Test
    void valuesGoInAndOut() {
        try (LuaState state = LuaState.ofCommand()) {
            List<Object> seen = new ArrayList<>();
            state.set("t", new LiveTable(a -> a.text(2) + "?", a -> {
                seen.add(a.text(2) + "=" + a.type(3) + ":" + a.text(3));
                return null;
            }));
            state.set("f", (LuaFunction) a -> a.tree(1));
            state.set("refuse", (LuaFunction) a -> {
                throw new ScriptError("refused " + a.checkText(1));
            });
            assertThat(evaluate(state, "t.x")).isEqualTo("x?");
            state.load("t.y = 5 t.z = 'a' t.w = nil".getBytes(StandardCharsets.UTF_8), "t");
            assertThat(seen).containsExactly("y=number:5", "z=string:a", "w=nil:");
            assertThat(evaluate(state, "f({1, {a = true}, 2.5, 'x'})[2].a")).isEqualTo("true");
            assertThat(evaluate(state, "err(function() refuse('me') end)")).isEqualTo("t:1: refused me");
            assertThat(evaluate(state, "err(function() refuse() end)")).contains("string expected, got no value");
            assertThat(evaluate(state, "coroutine.wrap(function() return t.inside end)()"))
                    .isEqualTo("inside?");
            byte[] odd = {'a', 0, (byte) 0xff, 'b'};
            state.set("odd", Bytes.of(odd));
            assertThat(evaluate(state, "#odd .. ' ' .. odd:byte(3)")).isEqualTo("4 255");
            assertThat(state.load("return odd".getBytes(StandardCharsets.UTF_8), "t"))
                    .isEqualTo(Bytes.of(odd));
        }
    }

    @Test
    void aChunkThatFailsSaysWhere() {
        try (LuaState state = LuaState.ofDaemon(() -> Long.MAX_VALUE)) {
            assertThatThrownBy(() -> state.load("this is no lua".getBytes(StandardCharsets.UTF_8), "/s.lua"))
                    .isInstanceOf(ScriptError.class)
                    .hasMessage("/s.lua:1: syntax error near 'is'");
            assertThatThrownBy(() -> state.load("\nerror('boom')".getBytes(StandardCharsets.UTF_8), "/s.lua"))
                    .hasMessage("/s.lua:2: boom");
            assertThatThrownBy(() -> state.load("error({})".getBytes(StandardCharsets.UTF_8), "/s.lua"))
                    .hasMessage(ScriptError.NO_TEXT);
            assertThatThrownBy(() -> state.load(
                            "local function f() return f() + 1 end f()".getBytes(StandardCharsets.UTF_8), "/s.lua"))
                    .hasMessageContaining("stack overflow");
            assertThatThrownBy(() -> state.load("os.exit(1)".getBytes(StandardCharsets.UTF_8), "/s.lua"))
                    .hasMessageContaining("not for scripts");
            assertThat(evaluate(state, "1 + 1")).isEqualTo("2");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        while true do end
        while true do pcall(string.rep) end
        while true do pcall(function() while true do end end) end
        coroutine.wrap(function() while true do end end)()
        while true do coroutine.resume(coroutine.create(function() while true do end end)) end
        """)
    void endlessScriptIsStopped(String chunk) {
        long until = System.nanoTime() + 50_000_000;
        try (LuaState state = LuaState.ofDaemon(() -> until)) {
            assertThatThrownBy(() -> state.load(chunk.getBytes(StandardCharsets.UTF_8), "t"))
                    .isInstanceOf(ScriptError.TimeOver.class);
        }
    }

    /** A program that a script leaves behind must not keep the daemon's port busy. */
    @Test
    void programsGetNoneOfTheDaemonsSockets() throws IOException {
        try (java.net.ServerSocket listening = new java.net.ServerSocket(0);
                LuaState state = LuaState.ofDaemon(() -> Long.MAX_VALUE)) {
            assertThat(listening.isBound()).isTrue();
            assertThat(evaluate(state, "sh('ls -l /proc/self/fd')")).doesNotContain("socket:");
            assertThat(evaluate(state, "os.execute('! ls -l /proc/self/fd | grep -q socket:')"))
                    .isEqualTo("true");
        }
    }
}

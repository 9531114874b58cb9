-- Runs once in each new state, before the site's script. Arguments: what the host offers. Results: functions that the host keeps.
local host = ...
local pack, unpack, error, pcall, xpcall, type, pairs = table.pack, table.unpack, error, pcall, xpcall, type, pairs
local sethook, getinfo, registry, cocreate = debug.sethook, debug.getinfo, debug.getregistry(), coroutine.create
local stdout = io.stdout

-- numbers are read and printed with a point, whatever the locale of the process
os.setlocale("C", "numeric")

-- ---- the host's functions: they answer true and results, or false and what is wrong, which becomes an error at the caller's line
local function wrap(f)
  return function(...)
    local r = pack(f(...))
    if r[1] then return unpack(r, 2, r.n) end
    error(r[2], 2)
  end
end

-- ---- Java is not for scripts: functions of the host hold Java objects as upvalues
java, luajava = nil, nil
for name in pairs(package.loaded) do
  if name == "java" or name == "luajava" then package.loaded[name] = nil end
end
for i = #package.searchers, 5, -1 do package.searchers[i] = nil end
debug.getregistry = nil
for _, name in ipairs { "getupvalue", "setupvalue", "upvalueid", "upvaluejoin" } do
  local original = debug[name]
  debug[name] = function(f, ...)
    if type(f) == "function" and getinfo(f, "S").what == "C" then return nil end
    return original(f, ...)
  end
end

-- ---- where modules are looked for: Lua's own places, then the distributions'
if not os.getenv("LUA_PATH") and not os.getenv("LUA_PATH_5_4") then
  for _, version in ipairs { "5.4", "5.3", "5.1" } do
    for _, root in ipairs { "/usr/share/lua/", "/usr/local/share/lua/" } do
      local dir = root .. version
      if not package.path:find(dir .. "/?.lua", 1, true) then
        package.path = package.path .. ";" .. dir .. "/?.lua;" .. dir .. "/?/init.lua"
      end
    end
  end
end
if not os.getenv("LUA_CPATH") and not os.getenv("LUA_CPATH_5_4") then
  for _, root in ipairs { "/usr/lib64/lua/5.4", "/usr/lib/" .. host.architecture .. "-linux-gnu/lua/5.4", "/usr/lib/lua/5.4" } do
    package.cpath = package.cpath .. ";" .. root .. "/?.so"
  end
end

-- ---- names of Lua 5.1 to 5.3 that scripts still use
_G.unpack = _G.unpack or table.unpack
loadstring = loadstring or load
table.getn = table.getn or function(t) return #t end
table.maxn = table.maxn or function(t)
  local max = 0
  for k in pairs(t) do if type(k) == "number" and k > max then max = k end end
  return max
end
table.foreach = table.foreach or function(t, f)
  for k, v in pairs(t) do
    local r = f(k, v)
    if r ~= nil then return r end
  end
end
table.foreachi = table.foreachi or function(t, f)
  for i, v in ipairs(t) do
    local r = f(i, v)
    if r ~= nil then return r end
  end
end
string.gfind = string.gfind or string.gmatch
math.pow = math.pow or function(x, y) return x ^ y end
math.mod = math.mod or math.fmod
math.log10 = math.log10 or function(x) return math.log(x, 10) end
math.cosh = math.cosh or function(x) return (math.exp(x) + math.exp(-x)) / 2 end
math.sinh = math.sinh or function(x) return (math.exp(x) - math.exp(-x)) / 2 end
math.tanh = math.tanh or function(x) return 1 - 2 / (math.exp(2 * x) + 1) end
math.ldexp = math.ldexp or function(m, e) return m * 2.0 ^ e end
math.frexp = math.frexp or function(x)
  if x == 0 or x ~= x or x == math.huge or x == -math.huge then return x, 0 end
  local e = math.floor(math.log(math.abs(x), 2)) + 1
  local m = x / 2.0 ^ e
  if math.abs(m) >= 1 then m, e = m / 2, e + 1 elseif math.abs(m) < 0.5 then m, e = m * 2, e - 1 end
  return m, e
end
package.loaders = package.loaders or package.searchers
if not bit32 then
  local function u32(x) return math.floor(x) & 0xFFFFFFFF end
  local function fold(start, op)
    return function(...)
      local r = start
      for _, x in ipairs { ... } do r = op(r, u32(x)) end
      return r
    end
  end
  local function lshift(x, n)
    if n < 0 then return n <= -32 and 0 or u32(x) >> -n end
    return n >= 32 and 0 or u32(u32(x) << n)
  end
  bit32 = {
    band = fold(0xFFFFFFFF, function(a, b) return a & b end),
    bor = fold(0, function(a, b) return a | b end),
    bxor = fold(0, function(a, b) return a ~ b end),
    bnot = function(x) return u32(~u32(x)) end,
    lshift = lshift,
    rshift = function(x, n) return lshift(x, -n) end,
    arshift = function(x, n)
      x = u32(x)
      if n <= 0 or x < 0x80000000 then return lshift(x, -n) end
      return n >= 32 and 0xFFFFFFFF or u32((x >> n) | ~(0xFFFFFFFF >> n))
    end,
    extract = function(x, at, width) return (u32(x) >> at) & ((1 << (width or 1)) - 1) end,
    replace = function(x, v, at, width)
      local mask = ((1 << (width or 1)) - 1) << at
      return (u32(x) & ~mask) | ((u32(v) << at) & mask)
    end,
    lrotate = function(x, n) n = n % 32; x = u32(x); return u32((x << n) | (x >> (32 - n))) end,
    rrotate = function(x, n) n = n % 32; x = u32(x); return u32((x >> n) | (x << (32 - n))) end,
  }
  bit32.btest = function(...) return bit32.band(...) ~= 0 end
  package.loaded.bit32 = bit32
end
local getupvalue, upvaluejoin = debug.getupvalue, debug.upvaluejoin
local function environment_of(f)
  if type(f) ~= "function" then f = getinfo((f or 1) + 2, "f").func end
  for i = 1, 255 do
    local name, value = getupvalue(f, i)
    if name == "_ENV" then return f, i, value end
    if not name then return f, nil, _G end
  end
end
getfenv = getfenv or function(f)
  if f == 0 then return _G end
  local _, _, value = environment_of(f)
  return value
end
setfenv = setfenv or function(f, t)
  local of, at = environment_of(f)
  if at then upvaluejoin(of, at, function() return t end, 1) end
  return of
end
package.seeall = package.seeall or function(t) setmetatable(t, { __index = _G }) end
module = module or function(name, ...)
  local t = package.loaded[name] or _G[name] or {}
  t._NAME, t._M = name, t
  package.loaded[name], _G[name] = t, t
  for _, f in ipairs { ... } do f(t) end
  local of, at = environment_of(1)
  if at then upvaluejoin(of, at, function() return t end, 1) end
end

-- ---- a bound for scripts of a daemon
local arm
if host.daemon then
  local expired = host.expired
  local function check()
    local _, over = expired()
    if over then
      -- the next instruction is stopped as well, so that no pcall of the script's goes on
      sethook(check, "", 1)
      error("time limit", 0)
    end
  end
  arm = function(co)
    if co then sethook(co, check, "", host.count) else sethook(check, "", host.count) end
  end
  coroutine.create = function(f)
    local co = cocreate(f)
    arm(co)
    return co
  end
  local resume, close = coroutine.resume, coroutine.close
  coroutine.wrap = function(f)
    local co = coroutine.create(f)
    return function(...)
      local r = pack(resume(co, ...))
      if r[1] then return unpack(r, 2, r.n) end
      close(co)
      error(r[2], 0)
    end
  end
  os.exit = function() error("os.exit is not for scripts of a daemon", 2) end
end

-- ---- what needs more than ANSI C, which is all that the library was compiled for: programs, dates, names of temporary files
local files = getmetatable(stdout).__index
local close, open, pipes = files.close, io.open, setmetatable({}, { __mode = "k" })
local popen, pclose, execute = wrap(host.popen), wrap(host.pclose), wrap(host.execute)
local function verdict(status)
  local signal = status & 0x7F
  local what, code = "exit", status >> 8 & 0xFF
  if signal ~= 0 then what, code = "signal", signal end
  if what == "exit" and code == 0 then return true, what, code end
  return nil, what, code
end
local pipe_meta = { __gc = function(p) if p.stream then pclose(p.stream) end end }
io.popen = function(command, mode)
  mode = mode or "r"
  if type(command) ~= "string" and type(command) ~= "number" then
    error("bad argument #1 to 'popen' (string expected, got " .. type(command) .. ")", 2)
  end
  if mode ~= "r" and mode ~= "w" then error("bad argument #2 to 'popen' (invalid mode)", 2) end
  stdout:flush()
  local stream, fd = popen(command, mode)
  local f, why, number = open("/proc/self/fd/" .. fd, mode)
  if not f then
    pclose(stream)
    return nil, why, number
  end
  pipes[f] = setmetatable({ stream = stream }, pipe_meta)
  return f
end
files.close = function(f, ...)
  local pipe = pipes[f]
  if not pipe or not pipe.stream then return close(f, ...) end
  local stream = pipe.stream
  pipe.stream = nil
  close(f)
  return verdict(pclose(stream))
end
io.close = function(f) return files.close(f or io.output()) end
os.execute = function(command)
  if command == nil then return true end
  stdout:flush()
  return verdict(execute(command))
end
local date, time, strftime = os.date, os.time, wrap(host.date)
os.date = function(format, at)
  format = format == nil and "%c" or format
  if type(format) ~= "string" or format:find("^!?%*t") then return date(format, at) end
  local utc = format:sub(1, 1) == "!"
  return strftime(utc and format:sub(2) or format, at or time(), utc)
end
os.tmpname = wrap(host.tmpname)

-- ---- calls of the host into the script
local function handler(message)
  if type(message) == "string" or type(message) == "number" then return message end
  return nil
end
local function run(f, ...)
  if arm then arm() end
  local r = pack(xpcall(f, handler, ...))
  if arm then sethook() end
  stdout:flush()
  return r[1], r[2], r[3]
end
-- threads that called the host stay in the registry until they are taken out of it
local main = coroutine.running()
local function threads()
  local found
  for k, id in pairs(registry) do
    if type(k) == "thread" and k ~= main and type(id) == "number" then
      found = found or {}
      found[#found + 1] = id
      registry[k] = nil
    end
  end
  return found
end
return wrap, run, threads, sethook

-- Runs one tree file and hands back, as plain tables, the trees that it declares.
--
-- The file sees a single name, BT. Whatever is asked of BT is written down with its line, known or not: what
-- kinds of nodes there are, and which options each takes, is decided on the other side. There is no library in
-- here, and strings lose theirs, because a long call into C is stopped by no hook.

local getinfo, sethook, load, select, setmetatable, error =
  debug.getinfo, debug.sethook, load, select, setmetatable, error

getmetatable("").__index = nil

local function limit_instructions(count)
  sethook(function()
    sethook(function() error("too many instructions", 2) end, "", 1)
    error("too many instructions", 2)
  end, "", count)
end

return function(source, chunk_name, instructions)
  local trees = {}

  local function declare(kind, line, ...)
    local call = { call = kind, line = line, count = select("#", ...), ... }
    if kind == "tree" then trees[#trees + 1] = call end
    return call
  end

  local BT = setmetatable({}, {
    __index = function(_, kind)
      local line = getinfo(2, "l").currentline
      return function(...) return declare(kind, line, ...) end
    end,
    __newindex = function() error("BT cannot be changed", 2) end,
  })

  local body, problem = load(source, chunk_name, "t", { BT = BT })
  if not body then error(problem, 0) end
  limit_instructions(instructions)
  body()
  sethook()
  return trees
end

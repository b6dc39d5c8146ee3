-- Runs one tree file and hands back, as plain tables, the trees that it declares.
--
-- The file sees a single name, BT. Whatever is asked of BT is written down with its line, known or not: what
-- kinds of nodes there are, and which options each takes, is decided on the other side. There is no library in
-- here, and strings lose theirs, because a long call into C is stopped by no hook. Time is bounded besides
-- instructions, because one instruction may copy megabytes.

local clock, getinfo, sethook = os.clock, debug.getinfo, debug.sethook
local load, select, setmetatable, error = load, select, setmetatable, error

local CALL = {} -- a key that no file can name
local BETWEEN_LOOKS = 100

getmetatable("").__index = nil

local function limit(instructions, seconds)
  local ends_at = clock() + seconds
  local looks_left = instructions // BETWEEN_LOOKS
  sethook(function()
    looks_left = looks_left - 1
    if looks_left < 0 or clock() > ends_at then
      sethook(function() error("too many instructions", 2) end, "", 1)
      error("too many instructions", 2)
    end
  end, "", BETWEEN_LOOKS)
end

return function(source, instructions, seconds)
  local trees = {}

  local function declare(kind, line, ...)
    local call = { [CALL] = kind, line = line, count = select("#", ...), ... }
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

  local body, problem = load(source, "@tree", "t", { BT = BT })
  if not body then error(problem, 0) end
  limit(instructions, seconds)
  body()
  sethook()
  return trees, CALL
end

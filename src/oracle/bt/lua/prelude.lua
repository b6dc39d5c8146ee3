-- Runs one tree file and returns the trees that it declares, as plain tables.
--
-- The file sees a single name, BT. Every call of BT is recorded with its line, whether the kind of node exists or not:
-- Python knows the kinds of nodes and their options. No library is available, and strings lose their methods, because
-- no hook can stop a long call into C. Time is bounded as well as instructions, because one instruction can copy
-- megabytes.

local clock, getinfo, sethook = os.clock, debug.getinfo, debug.sethook
local load, select, setmetatable, error, type = load, select, setmetatable, error, type

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

local function refuse_change() error("what BT returns cannot be changed", 2) end

return function(source, instructions, seconds)
  local trees = {}
  local facts = {} -- what was declared, by the empty table that the file holds in its hands

  local function declare(metatable, kind, line, ...)
    local call = setmetatable({}, metatable)
    facts[call] = { kind = kind, line = line, count = select("#", ...), ... }
    if kind == "tree" then trees[#trees + 1] = call end
    return call
  end

  local NODE = { __newindex = refuse_change }

  -- finish.close is a node; finish.close { … } and finish.close("name", { … }) are one with arguments.
  local function leaf(address, line)
    return declare({
      __newindex = refuse_change,
      __call = function(_, ...) return declare(NODE, "leaf", line, address, ...) end,
    }, "leaf", line, address)
  end

  local function leaves(module, ...)
    if type(module) ~= "string" or select("#", ...) > 0 then
      error('BT.leaves takes the name of one module, such as "oracle.bt.actions.finish"', 2)
    end
    return setmetatable({}, {
      __newindex = refuse_change,
      __index = function(_, name)
        if type(name) ~= "string" then error("a leaf of " .. module .. " is named by a string", 2) end
        return leaf(module .. "." .. name, getinfo(2, "l").currentline)
      end,
    })
  end

  local BT = setmetatable({}, {
    __index = function(_, kind)
      if kind == "leaves" then return leaves end
      local line = getinfo(2, "l").currentline
      return function(...) return declare(NODE, kind, line, ...) end
    end,
    __newindex = function() error("BT cannot be changed", 2) end,
  })

  local body, problem = load(source, "@tree", "t", { BT = BT })
  if not body then error(problem, 0) end
  limit(instructions, seconds)
  body()
  sethook()
  return trees, facts
end

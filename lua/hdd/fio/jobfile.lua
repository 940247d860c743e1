--- fio's job files: text in, sections with their options out. What the options mean is hdd.fio.plan's
-- business. Pure; the environment comes in as a function.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.fio.jobfile

local M = {}

local EINVAL <const> = 22

-- Job files are written by people: one that is larger is none.
local LARGEST <const> = 1 << 20

-- What is written in place of the variables of a line; nil and why not.
local function expanded(line, getenv)
  local missing
  local text = line:gsub("%$(%b{})", function(braced)
    local name = braced:sub(2, -2)
    local value = getenv(name)
    if value == nil or value == "" then missing = missing or name end
    return value
  end)
  if missing then
    return nil, string.format("the variable %s is not set: put %s=VALUE before the command", missing, missing)
  end
  local keyword = text:match("%$(%a[%w_]*)")
  if keyword then
    return nil, string.format("$%s: only variables in braces, ${NAME}, are supported", keyword)
  end
  return text
end

-- An option of a line: name, value (nil when it stands alone).
local function option_of(text)
  local name, value = text:match("^([%w_-]+)%s*=%s*(.-)$")
  if name then return name, value end
  return text:match("^[%w_-]+$")
end

local function refuse(name, number, message)
  return nil, string.format("%s:%d: %s", name, number, message), EINVAL
end

-- One line: a section begins, or an option is added; nil when all is well.
local function take(state, text, number)
  local section = text:match("^%[(.+)%]")
  if section == "global" then
    state.current = state.globals
  elseif section then
    state.current = {}
    state.sections[#state.sections + 1] = {
      name = section, line = number, options = state.current,
      globals = table.move(state.globals, 1, #state.globals, 1, {}),
    }
  elseif not state.current then
    return "an option must be in a section: [global] or [NAME]"
  else
    if text:match("^include%f[%s]") then
      return "include: not supported: put the lines of that file here"
    end
    local name, value = option_of(text)
    if not name then return string.format("%q is no option (NAME or NAME=VALUE)", text) end
    state.current[#state.current + 1] = { name = name, value = value, line = number }
  end
end

--- Reads a job file.
-- @tparam string text
-- @tparam[opt] table options  `name` (of the file, for messages: "job file"), `getenv` (os.getenv)
-- @treturn table  `sections`, a list of {`name`, `line`, `options`, `globals`}, each of the two a list of
--   {`name`, `value` (nil when the option stands alone), `line`} in order; `text` with its variables
--   replaced; `name`
-- @return or nil, message with file and line, code
-- @usage local parsed = assert(jobfile.parse("[a]\nrw=read\nfilename=${DRIVE}\n"))
function M.parse(text, options)
  options = options or {}
  local name, getenv = options.name or "job file", options.getenv or os.getenv
  if #text > LARGEST or text:find("\0", 1, true) then
    return nil, string.format("%s: it is no job file of fio's", name), EINVAL
  end
  local state, lines, number = { sections = {}, globals = {} }, {}, 0
  for line in (text:gsub("\r\n?", "\n") .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    line = line:match("^%s*(.-)%s*$")
    lines[number] = line
    if line ~= "" and not line:find("^[;#]") then
      local full, why = expanded(line, getenv)
      if not full then return refuse(name, number, string.format("%s: %s", line, why)) end
      lines[number] = full
      why = take(state, full, number)
      if why then return refuse(name, number, why) end
    end
  end
  if #state.sections == 0 then
    return nil, string.format("%s: it has no job: there is no section but [global]", name), EINVAL
  end
  return { sections = state.sections, text = table.concat(lines, "\n"), name = name }
end

return M

-- busted's output for `make check`: what failed, in full, and why what was left out; each result also
-- as a line in the file that HDDLUA_REPORT names, so that a process that dies is not taken for a success.
-- SPDX-License-Identifier: GPL-3.0-or-later
local base = require "busted.outputHandlers.base"
local busted = require "busted"

return function()
  local handler = base()
  local report = os.getenv("HDDLUA_REPORT")

  local function note(...)
    if not report then return end
    local file <close> = assert(io.open(report, "a"))
    assert(file:write(table.concat({...}, "\t"):gsub("\n.*", ""), "\n"))
  end

  local function show(what, entry)
    local message = entry.message or entry.name
    if type(message) ~= "string" then message = require("pl.pretty").write(message) end
    local source = entry.element.trace or {}
    print(("%s: %s\n    %s:%s\n    %s"):format(what, entry.name, source.short_src or "?",
      source.currentline or "?", (message:gsub("\n", "\n    "))))
    io.flush()
    return message
  end

  local function test_end(_, _, status)
    if status == "success" then
      note("passed", handler.successes[#handler.successes].name)
    elseif status == "pending" then
      local entry = handler.pendings[#handler.pendings]
      note("skipped", entry.name, show("skipped", entry))
    elseif status == "failure" then
      local entry = handler.failures[#handler.failures]
      show("FAILED", entry)
      note("failed", entry.name)
    else
      local entry = handler.errors[#handler.errors]
      show("FAILED", entry)
      note("failed", entry.name)
    end
    return nil, true
  end

  -- An error outside a spec: loading a file, before_each and the like.
  local function outside(element)
    if element.descriptor ~= "it" then
      local entry = handler.errors[#handler.errors]
      show("FAILED", entry)
      note("failed", entry.name)
    end
    return nil, true
  end

  busted.subscribe({"test", "end"}, test_end)
  busted.subscribe({"error"}, outside)
  busted.subscribe({"suite", "end"}, function()
    note("end")
    return nil, true
  end)
  return handler
end

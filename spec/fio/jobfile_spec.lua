-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- fio's job files: sections, options, variables.
local jobfile = require "hdd.fio.jobfile"

local function environment(values)
  return function(name) return values[name] end
end

local function parse(text, values)
  return jobfile.parse(text, { name = "x.fio", getenv = environment(values or {}) })
end

local function options_of(list)
  local words = {}
  for i, option in ipairs(list) do words[i] = option.name .. "=" .. tostring(option.value) end
  return table.concat(words, " ")
end

describe("a job file", function()
  it("has sections, and what [global] says so far counts for those behind it", function()
    local parsed = assert(parse [[
; a comment
# another
[global]
bs=64k
direct=1

[first]
rw=read
[global]
bs = 4k
[second job]
  rw=randread
stonewall
]])
    assert.equal(2, #parsed.sections)
    local first, second = parsed.sections[1], parsed.sections[2]
    assert.equal("first", first.name)
    assert.equal("bs=64k direct=1", options_of(first.globals))
    assert.equal("rw=read", options_of(first.options))
    assert.equal("second job", second.name)
    assert.equal("bs=64k direct=1 bs=4k", options_of(second.globals))
    assert.equal("rw=randread stonewall=nil", options_of(second.options))
    assert.equal(12, second.options[1].line)
  end)

  it("has its variables replaced, in values and names", function()
    local parsed = assert(parse("[job-${N}]\nfilename=${DIR}/${FILE}\n", { N = "7", DIR = "/d", FILE = "f" }))
    assert.equal("job-7", parsed.sections[1].name)
    assert.equal("filename=/d/f", options_of(parsed.sections[1].options))
    assert.equal("[job-7]\nfilename=/d/f", parsed.text:match("^(.-)%s*$"))
  end)

  it("is told where a variable is missing, and how to give it", function()
    local parsed, message, code = parse("[a]\nrw=read\nfilename=${DRIVE}\n")
    assert.is_nil(parsed)
    assert.equal("x.fio:3: filename=${DRIVE}: the variable DRIVE is not set: put DRIVE=VALUE before the command",
      message)
    assert.equal(22, code)
    assert.is_nil((parse("[a]\nfilename=${DRIVE}\n", { DRIVE = "" })))
  end)

  it("may come from another system", function()
    local parsed = assert(parse("[a]\r\nrw=read\r\n"))
    assert.equal("rw=read", options_of(parsed.sections[1].options))
  end)

  it("is refused with the line when it is none", function()
    for _, case in ipairs {
      { "rw=read\n[a]\n", "^x.fio:1: an option must be in a section" },
      { "[a]\nwhat is this\n", '^x.fio:2: "what is this" is no option' },
      { "[a]\ninclude other.fio\n", "^x.fio:2: include: not supported" },
      { "[a]\nsize=$mb_memory\n", "^x.fio:2: .*%$mb_memory: only variables in braces" },
      { "[global]\nbs=4k\n", "^x.fio: it has no job" }, { "", "^x.fio: it has no job" },
      { "\0\1", "^x.fio: it is no job file" }, { ("x"):rep(2 << 20), "^x.fio: it is no job file" },
    } do
      local parsed, message, code = parse(case[1])
      assert.is_nil(parsed)
      assert.matches(case[2], message)
      assert.equal(22, code)
    end
  end)
end)

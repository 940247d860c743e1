-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
-- JSON: what goes out, and what comes back.
local json = require "hdd.json"
local locale = require "spec.support.locale"
local needs = require "spec.support.needs"

local function back(value)
  return assert(json.decode(json.encode(value)))
end

describe("JSON", function()
  it("has integers digit for digit, and they stay integers", function()
    local numbers = {281474976710655, 20000588955648, 9007199254740993, math.maxinteger,
      math.mininteger, 0, -1}
    local read = back(numbers)
    for i, number in ipairs(numbers) do
      assert.equal(number, read[i])
      assert.equal("integer", math.type(read[i]))
    end
    assert.truthy(json.encode(math.maxinteger):find("9223372036854775807", 1, true))
  end)

  it("has other numbers to the last bit, and they stay floats", function()
    for _, number in ipairs {0.1, 1 / 3, 3.0, 1e300, -2.5e-10, 154972766.28125} do
      local read = back {n = number}.n
      assert.equal(number, read)
      assert.equal("float", math.type(read))
    end
  end)

  it("writes null for what is not finite", function()
    assert.equal('{"a": null, "b": null, "c": null}\n',
      json.encode({a = 0 / 0, b = 1 / 0, c = -1 / 0}, nil, true))
    assert.equal("[null, 1]\n", json.encode {0 / 0, 1})
  end)

  it("keeps [] and {} apart, here and back", function()
    assert.equal("[]\n", json.encode(json.list()))
    assert.equal("{}\n", json.encode(json.object()))
    assert.equal('{"a": [], "b": {}}\n', json.encode(json.decode '{"b":{},"a":[]}', nil, true))
    assert.equal('{"a": [{}, []]}\n', json.encode(json.decode '{"a":[{},[]]}', nil, true))
  end)

  it("has no null in objects, and keeps the length of lists that hold some", function()
    local read = assert(json.decode '{"a":null,"b":[1,null,3,null]}')
    assert.is_nil(read.a)
    assert.equal(4, #read.b)
    assert.equal(json.null, read.b[2])
    assert.equal('{"b": [1, null, 3, null]}\n', json.encode(read, nil, true))
  end)

  it("is valid UTF-8 whatever the strings hold", function()
    local text = json.encode {model = 'MO"D,EL <b>\xE9\x01', serial = '\x00\xFF AB\x1B[31m "'}
    assert.truthy(utf8.len(text))
    assert.is_nil(text:gsub("\n", ""):find("[\0-\31\127]"))
    local read = assert(json.decode(text))
    assert.equal('MO"D,EL <b>\\xE9\1', read.model)
    assert.equal('\0\\xFF AB\27[31m "', read.serial)
  end)

  it("sorts keys, and gives a list of objects a line for each", function()
    assert.equal('{\n  "a": [1, 2, 3],\n  "b": [\n    {"x": 1, "y": 2},\n    {"x": 3}\n  ],\n  "c": {\n' ..
                 '    "d": ["s"]\n  }\n}\n',
      json.encode {c = {d = {"s"}}, b = {{y = 2, x = 1}, {x = 3}}, a = {1, 2, 3}})
  end)

  it("follows the fields of a schema, with null for what is unknown", function()
    local fields = {
      {"z", "integer?"}, {"a", "list?", "", of = "string"}, {"o", "object", "", of = {{"y", "integer?"}}},
    }
    assert.equal('{"z": null, "a": [], "o": {"y": null}, "more": 1}\n',
      json.encode({more = 1, a = {}, o = {}}, fields, true))
  end)

  it("refuses what it has no form for, naming the place", function()
    local loop = {}
    loop.list = {{loop}}
    for value, part in pairs {
      [{a = {b = {1, print}}}] = "a.b[2]: a function",
      [{a = {[1] = 1, x = 2}}] = "a: a list with the key x",
      [{a = {[5] = 1}}] = "a: a key that is the number 5",
      [{[true] = 1}] = "the value: a key that is the boolean true",
      [loop] = "list[1][1]: a table that contains itself",
    } do
      local written, message = pcall(json.encode, value)
      assert.is_false(written)
      assert.truthy(message:find(part, 1, true), message)
    end
  end)

  it("writes a table that occurs twice twice", function()
    local once = {x = 1}
    assert.equal('[{"x": 1}, {"x": 1}]\n', json.encode({once, once}, nil, true))
  end)

  it("that is none is refused with the reason", function()
    for text, part in pairs {
      ["{"] = "unterminated", ["[1,2"] = "unterminated", ['{"a":1} x'] = "behind the end",
      ["a,b\n1,2"] = "no valid JSON",
      [""] = "JSON", ["\0"] = "", ["\xFF\xFE{"] = "",
      ["{a: 1}"] = "", ["NaN"] = "", ["[01x]"] = "",
    } do
      local value, message = json.decode(text)
      assert.is_nil(value)
      assert.truthy(message:find(part, 1, true), message)
    end
  end)

  it("that is nested very deep is refused, not a crash", function()
    local value, message = json.decode(("["):rep(250000))
    assert.is_nil(value)
    assert.is_string(message)
    value, message = json.decode(("["):rep(150000) .. ("]"):rep(150000))
    assert.is_true(value ~= nil or type(message) == "string")
  end)

  it("treats numbers that no float holds as unknown", function()
    assert.same({b = 1}, back(assert(json.decode '{"a":1e999,"b":1}')))
  end)

  it("has a decimal point in a locale with a comma, whenever the script sets it", function()
    needs.program "localedef"
    local ran = locale.german [[
      local json = require "hdd.json"
      print(json.encode({0.5, 1e-7, 1234567.25, 12345678}):gsub("\n", ""))
      assert(os.setlocale "")
      print(json.encode({0.5, 1e-7, 1234567.25, 12345678}):gsub("\n", ""))
      print(json.decode("[0.5, 1e-7, 1234567.25]")[3] == 1234567.25)
      assert(os.setlocale "C")
      print(json.decode("[0.5, 1e-7, 1234567.25]")[3] == 1234567.25)
    ]]
    assert.equal(("[0.5, 1e-07, 1234567.25, 12345678]\t1\n"):rep(2) .. "true\ntrue\n", ran.stdout)
  end)
end)

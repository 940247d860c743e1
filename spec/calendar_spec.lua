-- Times of documents as numbers.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local calendar = require "hdd.calendar"
local shell = require "spec.support.shell"

describe("a time of a document", function()
  it("is the second that date says", function()
    for _, time in ipairs {
      "1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "2000-02-29T12:00:00Z", "2026-03-01T00:00:01Z",
      "2100-03-01T00:00:00Z",
    } do
      assert.equal(math.tointeger((shell.must("date -u -d " .. time .. " +%s"))), calendar.seconds(time))
    end
  end)

  it("that is none is nil", function()
    for _, other in ipairs { "", "yesterday", "26-01-01T00:00:00Z", 7, {} } do
      assert.is_nil(calendar.seconds(other))
    end
    assert.is_nil(calendar.seconds(nil))
  end)
end)

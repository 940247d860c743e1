-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs beside others: nothing here depends on the time it takes.
local ata = require "spec.support.ata_fixtures"
local health = require "hdd.health"
local openmetrics = require "hdd.view.openmetrics"

local function said_of(name)
  local said = ata.decode(name)
  said.kind = "ata"
  return health.judge(said)
end

-- Checks each line against the format; samples by name.
local function parse(text)
  local samples, types, current = {}, {}, nil
  for line in text:gmatch("([^\n]*)\n") do
    local kind, name, rest = line:match("^# (%u+) ([%a_:][%w_:]*) (.+)$")
    if kind == "TYPE" then
      assert.is_nil(types[name], "two families of one name: " .. name)
      types[name], current = rest, name
    elseif line ~= "# EOF" and not kind then
      local metric, labels, value = line:match("^([%a_:][%w_:]*){(.*)} (%S+)$")
      assert(metric, line)
      assert.is_true(metric == current or metric == current .. "_total", line)
      assert.is_true(tonumber(value) ~= nil, line)
      local left = labels
      while left ~= "" do
        local stop = select(2, left:find('^[%a_][%w_]*="[^"\\\n]*"')) or
          select(2, left:find('^[%a_][%w_]*="[^\n]-[^\\]"'))
        assert(stop, line)
        left = left:sub(stop + 1):gsub("^,", "")
      end
      samples[metric] = samples[metric] or {}
      table.insert(samples[metric], {labels = labels, value = tonumber(value)})
    end
  end
  return samples
end

describe("the OpenMetrics text", function()
  local samples, text

  setup(function()
    text = openmetrics.text {{path = "/dev/sdb", said = said_of("WD6000HLHX-01JJPV0-a")}}
    samples = parse(text)
  end)

  it("ends as the format wants it", function()
    assert.matches("\n# EOF\n$", text)
  end)

  it("has smartctl_exporter's names for attributes, temperature and health", function()
    local raw
    for _, s in ipairs(samples.smartctl_device_attribute) do
      if s.labels:find('attribute_value_type="raw"', 1, true) and s.labels:find('attribute_id="199"', 1, true) then
        raw = s
      end
    end
    assert.equal(25, raw.value)
    assert.matches('^device="sdb",attribute_name="UDMA_CRC_Error_Count",attribute_flags_short="%-O%-%-CK",'
      .. 'attribute_flags_long="updated_online,event_count,auto_keep",', raw.labels)
    assert.equal(36, samples.smartctl_device_temperature[1].value)
    assert.equal(1, samples.smartctl_device_smart_status[1].value)
    assert.equal(8730 * 3600, samples.smartctl_device_power_on_seconds[1].value)
    assert.equal(600127266816, samples.smartctl_device_capacity_bytes[1].value)
    assert.equal(7, samples.smartctl_device_erc_seconds[1].value)
  end)

  it("has what nobody else tells, with the labels that joins need", function()
    local found
    for _, s in ipairs(samples.hddlua_phy_events_total) do
      if s.labels:find('id="0x000a"', 1, true) then found = s end
    end
    assert.equal(15, found.value)
    assert.matches('serial_number="FX7959969306"', found.labels)
    local holds = {}
    for _, s in ipairs(samples.hddlua_health) do
      if s.value == 1 then holds[#holds + 1] = s.labels:match('status="(%a+)"') end
    end
    assert.same({"warning"}, holds)
  end)

  it("tells nothing of a drive that was not read but that it was not", function()
    local other = openmetrics.text {
      {path = "/dev/sdb", said = said_of("WD6000HLHX-01JJPV0-a"), asleep = true},
      {path = "/dev/sdc", message = "gone"},
    }
    local found = parse(other)
    assert.is_nil(found.smartctl_device_temperature)
    assert.same({0, 0}, {found.hddlua_drive_read[1].value, found.hddlua_drive_read[2].value})
    assert.same({1, 0}, {found.hddlua_drive_standby[1].value, found.hddlua_drive_standby[2].value})
  end)

  it("escapes what a drive calls itself", function()
    local said = said_of("WD6000HLHX-01JJPV0-a")
    said.identity.model = 'A"B\\C\nD\xff'
    local one = openmetrics.text {{path = "/dev/sdb", said = said}}
    assert.matches('model_name="A\\"B\\\\C\\nD\\\\xFF"', one)
    assert.is_not_nil(utf8.len(one))
  end)
end)

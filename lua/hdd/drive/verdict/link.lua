-- The link between host and drive: its error counters, and its speed against what both ends can do.
-- All of this speaks of cable, plugs, backplane and power, not of the medium.
-- SPDX-License-Identifier: GPL-3.0-or-later

local phy = require "hdd.drive.phy"

local CABLE <const> = ": check the cable, its plugs and the backplane"

local function larger(a, b)
  if type(a) == "string" or type(b) == "string" then return type(a) == "string" end
  return a > b
end

-- Growth of a counter since an earlier reading; one that is lower was reset in between.
local function growth_of(before, counter)
  local old = before and before.phy and phy.find(before.phy, counter.id)
  local was, is = old and old.value, counter.value
  if math.type(was) ~= "integer" or math.type(is) ~= "integer" then return nil end
  return is >= was and is - was or is
end

local function phy_events(said, add, before)
  local counters, worst = {}, nil
  for _, c in ipairs(said.phy and said.phy.counters or {}) do
    -- Some count ordinary events too, and nobody knows what a maker's own one counts.
    if c.value ~= 0 and not c.ordinary and not c.vendor and c.name ~= "Unknown" then
      counters[#counters + 1] = {
        id = c.id, name = c.name, value = c.value, at_least = c.saturated or nil,
        growth = growth_of(before, c),
      }
      if not worst or larger(c.value, worst.value) then worst = c end
    end
  end
  if not worst then return end
  local doubtful = said.phy.checksum_ok == false
  local least = worst.saturated and "at least " or ""
  add(doubtful and "notice" or "warning", "phy", ("Phy event counter %d"):format(worst.id),
    worst.value, ("errors on the link since its counters were last reset (%s: %s%s)%s%s"):format(
      worst.name, least, worst.value, CABLE, doubtful and "; the page's checksum is wrong" or ""),
    {counters = counters, at_least = worst.saturated or nil, growth = growth_of(before, worst)})
end

local SAS = {"invalid_dwords", "disparity_errors", "sync_losses", "reset_problems"}

-- Plugging in a cable leaves some on every phy.
local function sas(said, add)
  for _, port in ipairs(said.sas and said.sas.ports or {}) do
    for _, p in ipairs(port.phys) do
      local counters, worst = {}, nil
      for _, key in ipairs(SAS) do
        if p[key] and p[key] > 0 then
          local full = p[key] == 0xffffffff
          counters[#counters + 1] = {name = key, value = p[key], at_least = full or nil}
          worst = math.max(worst or 0, p[key])
        end
      end
      if worst then
        add("notice", "phy", ("phy %d of port %d"):format(p.id, port.number), worst,
          "errors on the link, as plugging in leaves some; if they grow" .. CABLE,
          {counters = counters})
      end
    end
  end
end

local function mega(text)
  local number = text and tonumber(text:match "^[%d.]+")
  return number and number * 1000
end

local function gigabits(n) return ("%.1f Gb/s"):format(n / 1000) end

-- IDENTIFY tells the drive's end and the speed now; the host's end only the host knows.
local function sata_speed(said, add)
  local link = said.identity and said.identity.link
  local now, drive = link and link.current_mbit_per_s, link and link.max_mbit_per_s
  if not now or not drive or now >= drive then return end
  local host = mega(said.link and said.link.maximum_speed)
  if host and now < math.min(drive, host) then
    add("warning", "link_speed", "IDENTIFY DEVICE", now,
      ("the link runs at %s though both ends can do %s%s"):format(gigabits(now),
        gigabits(math.min(drive, host)), CABLE))
  elseif not host then
    add("notice", "link_speed", "IDENTIFY DEVICE", now,
      ("the link runs at %s, the drive can do %s: the host's side may be the slower one"):format(
        gigabits(now), gigabits(drive)))
  end
end

-- Of NVMe and SAS sysfs knows the speed now and the most of one end.
local function other_speed(said, add)
  local link = said.link
  local now, most = mega(link and link.speed), mega(link and link.maximum_speed)
  if not now or not most then return end
  local lanes, all_lanes = link.lanes, link.maximum_lanes
  if now < most or lanes and all_lanes and lanes < all_lanes then
    local function on(n) return n and (" on %d lanes"):format(n) or "" end
    local is, can = link.speed .. on(lanes), link.maximum_speed .. on(all_lanes)
    add("notice", "link_speed", "the host's side of the link", link.speed,
      ("the link runs at %s, the drive can do %s: the host's side may be the slower one"):format(is, can))
  end
end

return function(said, add, before)
  phy_events(said, add, before)
  sas(said, add)
  if said.kind == "nvme" or said.kind == "scsi" then
    other_speed(said, add)
  else
    sata_speed(said, add)
  end
end

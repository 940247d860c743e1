-- SPDX-License-Identifier: GPL-3.0-or-later
--- SHA-256 and base64: a page names the scripts and styles that it brings along by their sums, and the
-- browser runs no others.
-- @module hdd.view.html.digest
local M = {}

-- The first 32 bits of the fractional parts of the cube roots (K) and square roots (H) of the primes.
local function constants()
  local k, h, n = {}, {}, 2
  while #k < 64 do
    local prime = true
    for d = 2, math.floor(n ^ 0.5) do prime = prime and n % d ~= 0 end
    if prime then
      k[#k + 1] = math.floor(n ^ (1 / 3) % 1 * 2 ^ 32)
      if #h < 8 then h[#h + 1] = math.floor(n ^ 0.5 % 1 * 2 ^ 32) end
    end
    n = n + 1
  end
  return k, h
end

local K, H = constants()

local function rotated(x, n)
  return (x >> n | x << 32 - n) & 0xffffffff
end

local function compress(state, w)
  for i = 17, 64 do
    local a, b = w[i - 15], w[i - 2]
    w[i] = w[i - 16] + w[i - 7] + (rotated(a, 7) ~ rotated(a, 18) ~ a >> 3)
      + (rotated(b, 17) ~ rotated(b, 19) ~ b >> 10) & 0xffffffff
  end
  local a, b, c, d, e, f, g, h = table.unpack(state)
  for i = 1, 64 do
    local one = h + (rotated(e, 6) ~ rotated(e, 11) ~ rotated(e, 25)) + (e & f ~ ~e & g) + K[i] + w[i]
    local two = (rotated(a, 2) ~ rotated(a, 13) ~ rotated(a, 22)) + (a & b ~ a & c ~ b & c)
    a, b, c, d, e, f, g, h = one + two & 0xffffffff, a, b, c, d + one & 0xffffffff, e, f, g
  end
  for i, value in ipairs { a, b, c, d, e, f, g, h } do state[i] = state[i] + value & 0xffffffff end
end

--- SHA-256.
-- @tparam string bytes
-- @treturn string  32 bytes
-- @usage digest.base64(digest.sha256("abc")) --> "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
function M.sha256(bytes)
  local length = #bytes
  bytes = bytes .. "\x80" .. ("\0"):rep((55 - length) % 64) .. string.pack(">I8", length * 8)
  local state, form = table.move(H, 1, 8, 1, {}), ">" .. ("I4"):rep(16)
  for place = 1, #bytes, 64 do compress(state, { string.unpack(form, bytes, place) }) end
  return string.pack(">" .. ("I4"):rep(8), table.unpack(state))
end

local LETTERS <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

--- Base64 (RFC 4648), in one line.
-- @tparam string bytes
-- @treturn string
-- @usage digest.base64("hdd") --> "aGRk"
function M.base64(bytes)
  local text = bytes:gsub("..?.?", function(part)
    local a, b, c = part:byte(1, 3)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    local out = ""
    for i = 0, 3 do
      local at = (bits >> 18 - 6 * i & 63) + 1
      out = out .. (i <= #part and LETTERS:sub(at, at) or "=")
    end
    return out
  end)
  return text
end

return M

-- luacheck's settings: luacheck lua scripts examples spec bench
std = "lua54"
max_line_length = 120
files["spec/**/*_spec.lua"] = {std = "lua54+busted"}
-- Tables of data, a drive family or an ATA version a line.
files["lua/hdd/drive/families.lua"] = {max_line_length = false}
files["lua/hdd/drive/ata_versions.lua"] = {max_line_length = false}

--- Drive families whose SMART attributes mean something of their own: units, packings, names.
-- Only what changes a meaning is here. A model that no row fits is read by the general names of
-- hdd.drive.attribute_names, which for flash drives of unknown make are marked as unverified.
-- SPDX-License-Identifier: GPL-3.0-or-later
-- @module hdd.drive.families

local M = {}

-- An attribute's row: our name, the label of smartctl and its exporter, the rule of
-- hdd.drive.raw_values. What is nil is taken from the general table.

local function row(name, label, rule) return {name = name, label = label, rule = rule} end
local function rule(r) return {rule = r} end

local WRITTEN, READ = "data written", "data read"

-- Seagate's mechanical drives, all generations alike since about 2000.
local SEAGATE = {
  [1] = rule "errors_of_operations", [7] = rule "errors_of_operations",
  [195] = rule "errors_of_operations", [188] = rule "three_timeouts",
  [194] = rule "temperature_and_lowest", [241] = rule "logical_sectors",
  [242] = rule "logical_sectors",
}

local function with(base, more)
  local all = {}
  for id, r in pairs(base) do all[id] = r end
  for id, r in pairs(more) do all[id] = r end
  return all
end

local SEAGATE_MS = with(SEAGATE, {
  [5] = rule "sectors_maybe_high",
  [18] = row("head health", "Head_Health"), [200] = row("pressure limit trips", "Pressure_Limit"),
  [240] = rule "head_hours_and_ms",
})

local SANDFORCE = {
  [1] = rule "errors24_of_sectors", [5] = row("retired blocks", "Retired_Block_Count", "blocks"),
  [9] = row(nil, "Power_On_Hours_and_Msec", "hours_and_ms"),
  [171] = row("program failures", "Program_Fail_Count", "count"),
  [172] = row("erase failures", "Erase_Fail_Count", "count"),
  [174] = row("unexpected power losses", "Unexpect_Power_Loss_Ct", "count"),
  [177] = row("wear range, least to most worn block", "Wear_Range_Delta", "percent"),
  [181] = row("program failures", "Program_Fail_Count", "count"),
  [182] = row("erase failures", "Erase_Fail_Count", "count"), [187] = rule "count",
  [195] = row("uncorrectable ECC errors", "ECC_Uncorr_Error_Count", "errors24_of_sectors"),
  [196] = rule "small_count",
  [201] = row("uncorrectable soft read errors", "Unc_Soft_Read_Err_Rate", "errors24_of_sectors"),
  [204] = row("soft ECC corrections", "Soft_ECC_Correct_Rate", "errors24_of_sectors"),
  [230] = row("life curve status", "Life_Curve_Status"),
  [231] = row("life left", "SSD_Life_Left", "life_left_by_value"),
  [233] = row("maker's own counter", "SandForce_Internal"),
  [234] = row("maker's own counter", "SandForce_Internal"),
  [241] = row(WRITTEN, "Lifetime_Writes_GiB", "units_gib"),
  [242] = row(READ, "Lifetime_Reads_GiB", "units_gib"),
}

local INTEL = {
  [171] = row("program failures", "Program_Fail_Count", "count"),
  [172] = row("erase failures", "Erase_Fail_Count", "count"), [184] = rule "count",
  [187] = rule "count", [192] = row("unsafe shutdowns", "Unsafe_Shutdown_Count", "count"),
  [225] = row(WRITTEN, "Host_Writes_32MiB", "units_32_mib"),
  [226] = row("wear by the timed workload", "Workld_Media_Wear_Indic", "timed_wear"),
  [227] = row("reads in the timed workload", "Workld_Host_Reads_Perc", "timed_reads"),
  [228] = row("duration of the timed workload", "Workload_Minutes", "timed_minutes"),
  [232] = row("available reserved space", "Available_Reservd_Space", "reserve_by_value"),
  [233] = row("media wear-out indicator", "Media_Wearout_Indicator", "life_left_by_value"),
  [241] = row(WRITTEN, "Host_Writes_32MiB", "units_32_mib"),
  [242] = row(READ, "Host_Reads_32MiB", "units_32_mib"),
}

local INTEL_320 = with(INTEL, {
  [170] = row("available reserved space", "Reserve_Block_Count", "reserve_by_value"),
})

local INTEL_DC = with(INTEL, {
  [170] = row("available reserved space", "Available_Reservd_Space", "reserve_by_value"),
  [174] = row("unsafe shutdowns", "Unsafe_Shutdown_Count", "count"),
  [175] = row("power loss capacitor test", "Power_Loss_Cap_Test", "capacitor_test"),
  [183] = row("link downshifts", "SATA_Downshift_Count", "count"),
  [190] = row("case temperature", "Temperature_Case", "temperature"),
  [194] = row("internal temperature", "Temperature_Internal", "temperature"),
  [197] = rule "sectors", [199] = row(nil, "CRC_Error_Count", "count"),
  [234] = row("thermal throttling", "Thermal_Throttle"),
  [243] = row("flash written", "NAND_Writes_32MiB", "units_32_mib"),
})

local INTEL_S4 = with(INTEL_DC, {
  [184] = row(nil, "End-to-End_Error_Count", "count"),
  [187] = row(nil, "Uncorrectable_Error_Cnt", "count"),
  [190] = row("drive temperature", "Drive_Temperature", "temperature"),
  [194] = row(nil, "Temperature_Celsius", "temperature"),
  [197] = row(nil, "Pending_Sector_Count", "sectors"),
  [234] = row("thermal throttling", "Thermal_Throttle_Status"),
  [235] = row("power loss capacitor test", "Power_Loss_Cap_Test", "capacitor_test"),
})

local KINGSTON_A400 = {
  [167] = row("write protection", "Write_Protect_Mode"),
  [168] = row("link errors", "SATA_Phy_Error_Count", "count"),
  [169] = row("bad block rate", "Bad_Block_Rate"), [170] = row("bad blocks", "Bad_Blk_Ct_Erl/Lat"),
  [172] = row("erase failures", "Erase_Fail_Count", "count"),
  [173] = row("most and average erases", "MaxAvgErase_Ct"),
  [181] = row("program failures", "Program_Fail_Count", "count"),
  [182] = row("erase failures", "Erase_Fail_Count", "count"), [187] = rule "count",
  [192] = row("unsafe shutdowns", "Unsafe_Shutdown_Count", "count"),
  [199] = row(nil, "SATA_CRC_Error_Count", "count"),
  [218] = row("CRC errors", "CRC_Error_Count", "count"),
  [231] = row("life left", "SSD_Life_Left", "life_left_by_raw"),
  [233] = row("flash written", "Flash_Writes_GiB", "units_gib"),
  [241] = row(WRITTEN, "Lifetime_Writes_GiB", "units_gib"),
  [242] = row(READ, "Lifetime_Reads_GiB", "units_gib"),
  [244] = row("average erase count", "Average_Erase_Count", "erase_cycles"),
  [245] = row("largest erase count", "Max_Erase_Count", "erase_cycles"),
  [246] = row("sum of erase counts", "Total_Erase_Count"),
}

local SILICON_MOTION = {
  [5] = rule "sectors", [160] = row("uncorrectable errors", "Uncorrectable_Error_Cnt", "count"),
  [161] = row("spare blocks left", "Valid_Spare_Block_Cnt", "blocks"),
  [163] = row("factory bad blocks", "Initial_Bad_Block_Count", "blocks"),
  [164] = row("sum of erase counts", "Total_Erase_Count"),
  [165] = row("largest erase count", "Max_Erase_Count", "erase_cycles"),
  [166] = row("smallest erase count", "Min_Erase_Count", "erase_cycles"),
  [167] = row("average erase count", "Average_Erase_Count", "erase_cycles"),
  [168] = row("erases that it is made for", "Max_Erase_Count_of_Spec", "erase_cycles"),
  [169] = row("life left", "Remaining_Lifetime_Perc", "life_left_by_raw"),
  [178] = row("bad blocks found at run time", "Runtime_Invalid_Blk_Cnt", "blocks"),
  [197] = rule "sectors", [198] = rule "sectors", [199] = rule "count",
  [241] = row(WRITTEN, "Host_Writes_32MiB", "units_32_mib"),
  [242] = row(READ, "Host_Reads_32MiB", "units_32_mib"),
  [245] = row("flash written", "TLC_Writes_32MiB", "units_32_mib"),
}

local MICRON = {
  [171] = row("program failures", "Program_Fail_Count", "count"),
  [172] = row("erase failures", "Erase_Fail_Count", "count"),
  [174] = row("unexpected power losses", "Unexpect_Power_Loss_Ct", "count"), [184] = rule "count",
  [187] = rule "count", [196] = rule "small_count", [197] = rule "sectors", [198] = rule "sectors",
  [199] = rule "count", [206] = row("write error rate", "Write_Error_Rate"),
}

local MICRON_CLIENT = with(MICRON, {
  [5] = row("reallocated flash blocks", "Reallocate_NAND_Blk_Cnt", "blocks"),
  [173] = row("average erase count", "Ave_Block-Erase_Count", "erase_cycles"),
  [180] = row("unused reserved blocks", "Unused_Reserve_NAND_Blk", "blocks"),
  [183] = row("link downshifts", "SATA_Interfac_Downshift", "count"),
  [184] = row("errors corrected", "Error_Correction_Count", "count"),
  [202] = row("life used", "Percent_Lifetime_Remain", "life_used_by_raw"),
  [210] = row("RAIN recoveries", "Success_RAIN_Recov_Cnt", "count"),
  [246] = row(WRITTEN, "Total_LBAs_Written", "logical_sectors"),
  [247] = row("pages programmed for the host", "Host_Program_Page_Count"),
  [248] = row("pages programmed by the drive itself", "FTL_Program_Page_Count"),
})

local MICRON_M4 = with(MICRON, {
  [5] = rule "sectors", [170] = row("grown failing blocks", "Grown_Failing_Block_Ct", "blocks"),
  [173] = row("wear levelling count", "Wear_Leveling_Count", "erase_cycles"),
  [181] = row("accesses not aligned to 4 KiB", "Non4k_Aligned_Access", "three_words"),
  [183] = row("link downshifts", "SATA_Iface_Downshift", "count"),
  [189] = row("factory bad blocks", "Factory_Bad_Block_Ct", "blocks"),
  [202] = row("life used", "Perc_Rated_Life_Used", "life_used_by_raw"),
})

local SAMSUNG_FLASH = {
  [5] = rule "sectors",
  [177] = row("wear levelling count", "Wear_Leveling_Count", "erase_cycles_and_life"),
  [179] = rule "blocks", [181] = rule "count", [182] = rule "count", [183] = rule "blocks",
  [184] = rule "count", [187] = row("uncorrectable errors", "Uncorrectable_Error_Cnt", "count"),
  [195] = row("ECC errors", "ECC_Error_Rate"), [197] = rule "sectors",
  [199] = row(nil, "CRC_Error_Count", "count"),
  [202] = row("exception mode", "Exception_Mode_Status"),
  [235] = row("recoveries after power loss", "POR_Recovery_Count", "count"),
  [241] = rule "logical_sectors", [242] = rule "logical_sectors",
  [243] = row("link downshifts", "SATA_Downshift_Ct", "count"),
  [244] = row("thermal throttling", "Thermal_Throttle_St"),
  [245] = row("wear by the timed workload", "Timed_Workld_Media_Wear", "timed_wear"),
  [246] = row("reads in the timed workload", "Timed_Workld_RdWr_Ratio", "timed_reads"),
  [247] = row("duration of the timed workload", "Timed_Workld_Timer", "timed_minutes"),
  [249] = row("maker's own counter", "Unknown_Samsung_Attr"),
  [250] = row("link downshifts", "SATA_Iface_Downshift", "count"),
  [251] = row("flash written", "NAND_Writes"),
}

local FUJITSU = {[5] = rule "sectors_low32"}
local FUJITSU_SECONDS = with(FUJITSU, {[9] = rule "seconds"})
local FUJITSU_MINUTES = with(FUJITSU, {[9] = rule "minutes"})
local MINUTES = {[9] = row(nil, "Power_On_Minutes", "minutes")}
local HALF_MINUTES = {[9] = row(nil, "Power_On_Half_Minutes", "half_minutes")}
-- Their 199 shows tens of millions on a drive without a fault.
local TOSHIBA_MK = with(MINUTES, {[199] = rule "nothing"})
local SECTORS_MOVED = {[241] = rule "logical_sectors", [242] = rule "logical_sectors"}

-- The first row whose pattern (a Lua pattern on the model, and one on the firmware if there)
-- fits is taken. A family without a name has rules only.
local FAMILIES = {
  {name = "SandForce Driven SSDs", flash = true, attributes = SANDFORCE,
    models = {"^Corsair Force [3G]", "^OCZ%-VERTEX[23]", "^OCZ%-AGILITY[23]", "^OCZ[ -]VERTEX[23]",
      "^KINGSTON SH10[03]S3", "^KINGSTON SV300S3", "^ADATA SSD S5"}},
  {name = "Intel 320 Series SSDs", flash = true, attributes = INTEL_320,
    models = {"^INTEL SSDSA2[BC][TW]", "^INTEL SSDSA1NW"}},
  {name = "Intel 730 and DC S35x0/3610/3700 Series SSDs", flash = true, attributes = INTEL_DC,
    models = {"^INTEL SSDSC[12]B[ABGPX]"}},
  {name = "Intel S4510/S4610/S4500/S4600 Series SSDs", flash = true, attributes = INTEL_S4,
    models = {"^INTEL SSDSC2K[BG]", "^INTEL SSDSCKK[BG]"}},
  {name = "Phison Driven SSDs", flash = true, attributes = KINGSTON_A400,
    models = {"^KINGSTON SA400"}},
  {name = "Silicon Motion based SSDs", flash = true, attributes = SILICON_MOTION,
    models = {"^TS%d+GMTS[48]", "^TS%d+GSSD[23][27]0"}},
  {name = "Crucial/Micron RealSSD m4/C400/P400", flash = true, attributes = MICRON_M4,
    models = {"^M4%-CT%d+M4SSD", "^C400%-MTFDDA", "^MTFDDA[ACK]%d+MA[MNR]", "^P400%w?%-MTFDDA"}},
  {name = "Crucial/Micron Client SSDs", flash = true, attributes = MICRON_CLIENT,
    models = {"^Crucial_CT%d+M", "^CT%d+[MB]X%d+SSD", "^CT%d+M5%d0SSD", "^Micron_M[56]%d0",
      "^MTFDDA[KVY]%d+M[AB][FVY]"}},
  {name = "Samsung based SSDs", flash = true, attributes = SAMSUNG_FLASH,
    models = {"^Samsung SSD", "^SAMSUNG SSD 830", "^SAMSUNG MZ7", "^MZ7"}},

  {name = "Fujitsu MHY BH", models = {"^FUJITSU MHY2%d+BH"}, firmware = "^0085000B",
    -- This firmware counts minutes, and these others hold no plain count.
    attributes = with(FUJITSU_MINUTES, {
      [4] = rule "nothing", [196] = rule "nothing", [197] = rule "nothing", [198] = rule "nothing",
      [199] = rule "nothing",
    })},
  {name = "Fujitsu MHY BH", models = {"^FUJITSU MHY2%d+BH"}, attributes = FUJITSU},
  {name = "Fujitsu MHZ BJ", models = {"^FUJITSU MHZ2%d+BJ"}, attributes = FUJITSU_MINUTES},
  {name = "Fujitsu MHZ BH", models = {"^FUJITSU MHZ2%d+BH"}, attributes = FUJITSU},
  {models = {"^FUJITSU MH[GHJKLMNRSTUV]2", "^FUJITSU MP[A-G]3", "^FUJITSU M16"},
    attributes = FUJITSU_SECONDS},

  -- The last drives of the name count hours.
  {models = {"^Maxtor 6[AGHV]", "^Maxtor 7[HV]"}, attributes = {}},
  {name = "Maxtor DiamondMax 80", models = {"^Maxtor 98196H8", "^Maxtor 96147H6"},
    attributes = MINUTES},
  {name = "Maxtor DiamondMax 60 ATA 100", models = {"^Maxtor 9[1-6]%d+H[1-8]"},
    attributes = MINUTES},
  {models = {"^Maxtor [2-9]"}, attributes = MINUTES},

  {name = "SAMSUNG SpinPoint P80",
    models = {"^SAMSUNG SP0[48]%d%d[CN]", "^SAMSUNG SP1[26]%d%d[CN]"},
    attributes = with(HALF_MINUTES,
      {[198] = row("offline uncorrectable sectors, ever", "Total_Offl_Uncorrectabl", "sectors")})},
  {name = "SAMSUNG SpinPoint M", models = {"^SAMSUNG MP0%d+H"}, attributes = HALF_MINUTES},
  {name = "SAMSUNG SpinPoint T166",
    models = {"^SAMSUNG HD080GJ", "^SAMSUNG HD160HJ", "^SAMSUNG HD252KJ", "^SAMSUNG HD32[01]KJ",
      "^SAMSUNG HD403LJ", "^SAMSUNG HD50[01]LJ"},
    attributes = {
      [187] = rule "nothing",  -- a 1 in its second word, and a value that was never set
      [197] = row("pending sectors, ever", "Total_Pending_Sectors", "sectors"),
    }},
  {models = {"^SAMSUNG SV0412H", "^SAMSUNG SV1204H"},
    attributes = with(HALF_MINUTES, {[194] = rule "temperature_tenths"})},
  {models = {"^SAMSUNG S[PV]%d", "^SAMSUNG HM0[468]0H", "^SAMSUNG HM120I[CI]",
    "^SAMSUNG HM1[026]0J[CI]"}, attributes = HALF_MINUTES},

  {name = 'Toshiba 2.5" HDD MK..51GSY', models = {"^TOSHIBA MK%d%d51GSY"}, attributes = TOSHIBA_MK},
  {models = {"^TOSHIBA MK%d%d[56][61]GSY", "^TOSHIBA MK%d%d76GSX"}, attributes = TOSHIBA_MK},
  {models = {"^TOSHIBA MG0[789]ACA", "^TOSHIBA MG1"}, attributes = {
    [23] = row("helium condition, lower", "Helium_Condition_Lower"),
    [24] = row("helium condition, upper", "Helium_Condition_Upper"),
    [27] = row("write assistance health", "MAMR_Health_Monitor"),
  }},
  {name = 'Toshiba 3.5" MG03ACAxxx(Y) Enterprise HDD', models = {"^TOSHIBA MG03ACA"},
    attributes = SECTORS_MOVED},

  {name = "Western Digital VelociRaptor",
    models = {"^WDC WD%d+[BGH]L[FH][SX]", "^WDC WD%d+[BCD]HTZ"}, attributes = {}},
  {name = "Western Digital Caviar SE", models = {"^WDC WD%d+J[BD]%-"}, attributes = {}},
  {name = "Western Digital Caviar Blue (SATA)", models = {"^WDC WD%d+AA[JK][SX]"}, attributes = {}},
  -- Their index of the temperature history points one row too far.
  {models = {"^WDC  ?WD80EDAZ", "^WDC  ?WD181KFGX"}, attributes = {}, history_index_ahead = true},
  {models = {"^GB0%d+EAFYK"}, attributes = {[188] = rule "three_timeouts"}},  -- HP's label

  {name = "HGST Deskstar NAS", models = {"^HGST HDN7[24]"}, attributes = {}},
  {name = "HGST Ultrastar DC HC520 (He12)", models = {"^HGST HUH7212%d%dAL[EN]60"},
    attributes = {[22] = row("helium level", "Helium_Level", "percent")}},
  {models = {"^HGST HUH7%d", "^WDC  ?WUH7%d", "^WUH7%d"},
    attributes = {[22] = row("helium level", "Helium_Level", "percent")}},
  {name = "Hitachi/HGST Ultrastar 7K4000", models = {"HUS7240%d%dAL[AES]6"}, attributes = {}},
  {name = "Hitachi Deskstar 7K1000.D",
    models = {"^Hitachi HDS7210%d%dDLE63", "^Hitachi HDS721050DLE63"}, attributes = {}},

  -- Samsung's last designs, under Seagate's name.
  {models = {"^ST%d+LM012", "^ST%d+LM02[245]", "^ST320LM001", "^ST2000LM003", "^ST1500LM006",
    "^ST%d+DM005", "^ST2000DL004"}, attributes = {}},
  {name = "Seagate Exos X16", models = {"^ST1[46]000NM00[13]G"}, attributes = SEAGATE_MS},
  {name = "Seagate Mobile HDD", models = {"^ST2000LM00[789]", "^ST2000LM01[05]", "^ST1000LM03[578]",
    "^ST1000LM048"}, attributes = SEAGATE},
  {name = "Seagate Archive HDD (SMR)", models = {"^ST[568]000AS00"}, attributes = SEAGATE},
  {name = "Seagate U6", models = {"^ST320410A$", "^ST340810A$", "^ST330610A$", "^ST360020A$",
    "^ST380020A$"}, attributes = SEAGATE},
  {name = "Seagate Momentus 5400.3",
    models = {"^ST9[468]081%dAS?$", "^ST9100828AS?$", "^ST9120822AS?$", "^ST9160821AS?$"},
    attributes = SEAGATE},
  -- Large Exos and IronWolf and the SkyHawk drives count the milliseconds too.
  {models = {"^ST%d%d000N[MTE]00", "^ST%d+000V[NEX]00"}, attributes = SEAGATE_MS},
  {models = {"^ST%d"}, attributes = SEAGATE},
}

local NONE = {attributes = {}}

local function fits(family, model, firmware)
  if family.firmware and not firmware:find(family.firmware) then return false end
  for _, pattern in ipairs(family.models) do
    if model:find(pattern) then return true end
  end
  return false
end

--- The family of a drive.
-- @tparam ?string model     as IDENTIFY gives it, trimmed
-- @tparam ?string firmware
-- @treturn table  `{name, flash, attributes = {[id] = {name, label, rule}}, history_index_ahead}`;
--   without a name when none is known
-- @usage local family = families.find("WDC WD6000HLHX-01JJPV0", "04.05G04")
function M.find(model, firmware)
  if not model then return NONE end
  for _, family in ipairs(FAMILIES) do
    if fits(family, model, firmware or "") then return family end
  end
  return NONE
end

return M

# hddlua: plain GNU make.  `make help` lists the targets.
# SPDX-License-Identifier: GPL-3.0-or-later

PREFIX     = /usr/local
DESTDIR    =
CFLAGS     = -O2 -g
CPPFLAGS   =
LDFLAGS    =
PKG_CONFIG = pkg-config

# One folder for each flavour: build, build/asan, build/tsan.
BUILD    = build
SANITIZE =

# The project's own flags stand apart, so that `make CFLAGS=-O3` drops none of them.
PACKAGES    = lua5.4 liburing libatasmart libmd libxxhash blkid
HDD_CFLAGS  = -std=gnu11 -Wall -Wextra -fvisibility=hidden -fPIC -pthread -MMD -MP \
              $(shell $(PKG_CONFIG) --cflags $(PACKAGES)) $(SANITIZE)
CORE_LIBS   = $(shell $(PKG_CONFIG) --libs liburing libxxhash) -lm
COMMANDS_LIBS = $(shell $(PKG_CONFIG) --libs libatasmart libmd)
SIGNATURE_LIBS = $(shell $(PKG_CONFIG) --libs blkid)
HDDLUA_LIBS = $(shell $(PKG_CONFIG) --libs lua5.4)

# The interpreter has the core linked in, so that both share what they know of signals; core.so is
# for the stock interpreter.
MAIN_OBJECTS = $(BUILD)/obj/hddlua.o $(BUILD)/obj/place.o
CORE_OBJECTS = $(filter-out $(MAIN_OBJECTS),$(patsubst core/%.c,$(BUILD)/obj/%.o,$(wildcard core/*.c)))
OBJECTS      = $(MAIN_OBJECTS) $(CORE_OBJECTS)

# SMART, ATA and NVMe commands: a module of its own, so that what only reads blocks starts quickly.
COMMANDS_OBJECTS = $(patsubst core/%.c,$(BUILD)/obj/%.o,$(wildcard core/commands/*.c))

# What stands on a drive, before it is written to.
SIGNATURE_OBJECTS = $(patsubst core/%.c,$(BUILD)/obj/%.o,$(wildcard core/signature/*.c))

# Lua code below the top folder, with its folder kept on installing.
LUA_FILES = $(shell find lua -name '*.lua' | sort)

V =
Q = $(if $(V),,@)
say = $(if $(V),@:,@printf '  %-4s %s\n' '$(1)' '$@')

# Modules as hddlua loads them: compiled, beside core.so.  A stock interpreter takes the sources.
MODULES = $(patsubst lua/%.lua,$(BUILD)/%.luac,$(LUA_FILES))

all: $(BUILD)/hdd/core.so $(BUILD)/hdd/commands.so $(BUILD)/hdd/signature.so $(BUILD)/hddlua $(MODULES)  ## build build/hddlua and what it loads (the default)

# Undefined symbols of core.so are Lua's, which the interpreter that loads it brings along.  It stays
# loaded when the state is closed: a thread whose drive never answers may outlive it.
$(BUILD)/hdd/core.so: $(CORE_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(HDD_CFLAGS) $(LDFLAGS) -shared -Wl,-z,nodelete -o $@ $^ $(CORE_LIBS)

$(BUILD)/hdd/commands.so: $(COMMANDS_OBJECTS) $(BUILD)/obj/error.o $(BUILD)/obj/thread.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(HDD_CFLAGS) $(LDFLAGS) -shared -Wl,-z,nodelete -o $@ $^ $(COMMANDS_LIBS)

$(BUILD)/hdd/signature.so: $(SIGNATURE_OBJECTS) $(BUILD)/obj/error.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(HDD_CFLAGS) $(LDFLAGS) -shared -o $@ $^ $(SIGNATURE_LIBS)

$(BUILD)/hddlua: $(OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(HDD_CFLAGS) $(LDFLAGS) -o $@ $^ $(HDDLUA_LIBS) $(CORE_LIBS)

$(BUILD)/%.luac: lua/%.lua $(BUILD)/hddlua build-aux/precompile
	@mkdir -p $(@D)
	$(Q)$(BUILD)/hddlua build-aux/precompile $< $@

$(BUILD)/obj/%.o: core/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(HDD_CFLAGS) $(CFLAGS) -c -o $@ $<

-include $(OBJECTS:.o=.d) $(COMMANDS_OBJECTS:.o=.d) $(SIGNATURE_OBJECTS:.o=.d)

# The servers and libraries that specs are run against; hddsim brings a Makefile of its own.
SUPPORT = build/support/faultfs build/support/hddsim build/support/sgreplay.so

support: $(SUPPORT)

build/support/faultfs: spec/support/faultfs.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS) -std=gnu11 -Wall -Wextra -pthread `$(PKG_CONFIG) --cflags fuse3` \
	  -o $@ $< `$(PKG_CONFIG) --libs fuse3`

build/support/hddsim: $(wildcard spec/support/hddsim/*.[ch]) Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(MAKE) -s -C spec/support/hddsim O=$(CURDIR)/$(@D)

build/bench/floor: bench/floor.c bench/hist.h Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS) -Wall -Wextra -o $@ $< `$(PKG_CONFIG) --cflags --libs liburing`

build/support/sgreplay.so: spec/fixtures/sgreplay/sgreplay.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS) -shared -fPIC -o $@ $< -ldl

# The parsers of what drives and files say, for libFuzzer.
FUZZED = $(filter-out %/commands.c %_lua.c %/atasmart.c %/worker.c,$(wildcard core/commands/*.c)) core/error.c

build/fuzz/%: spec/fuzz/%_fuzz.c $(FUZZED) $(wildcard core/commands/*.h) Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)clang -std=gnu11 -O1 -g -Wall -Wextra -pthread -fsanitize=fuzzer,address,undefined \
	  -fno-sanitize-recover=undefined `$(PKG_CONFIG) --cflags lua5.4` \
	  -o $@ $< $(FUZZED) `$(PKG_CONFIG) --libs libmd lua5.4`

demo: packages-demo  ## measure a real drive of this machine, read-only, in under two minutes
	@$(MAKE) --no-print-directory all
	@build-aux/demo $(BUILD)/hddlua

check: packages-check  ## build, lint the Lua code and run all specs
	@$(MAKE) --no-print-directory all
	@build-aux/check

spec: all  ## run specs with busted: make spec ARGS="spec/units_spec.lua"
	$(Q)build-aux/busted $(if $(ARGS),$(ARGS),spec)

sanitize: packages-check  ## specs under ASan+UBSan and TSan, those marked #core under valgrind
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory all BUILD=build/asan \
	  SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer'
	@$(MAKE) --no-print-directory all BUILD=build/tsan SANITIZE='-fsanitize=thread'
	@build-aux/sanitize $(ARGS)

RUNS = 200000

fuzz: all build/fuzz/recording build/fuzz/sense  ## libFuzzer on the C parsers: make fuzz RUNS=10000000
	@build-aux/fuzz $(RUNS)

lint: packages-check  ## luacheck, cppcheck, clang-tidy, shellcheck; the C code's format
	@build-aux/lint

bench: packages-check  ## the table of speed goals, against fio and a minimal reader
	@$(MAKE) --no-print-directory all build/bench/floor
	@bench/run $(ARGS)

gallery: packages-check support  ## measure simulated drives and draw docs/gallery.md
	@$(MAKE) --no-print-directory all
	@build/hddlua build-aux/gallery.lua

acceptance: packages-check  ## the long runs against a simulated drive; writes docs/acceptance.md
	@$(MAKE) --no-print-directory all
	@build-aux/acceptance $(ARGS)

install: all  ## install under PREFIX (/usr/local), below DESTDIR
	install -D $(BUILD)/hddlua $(DESTDIR)$(PREFIX)/bin/hddlua
	install -D -m 644 $(BUILD)/hdd/core.so $(DESTDIR)$(PREFIX)/lib/lua/5.4/hdd/core.so
	install -D -m 644 $(BUILD)/hdd/commands.so $(DESTDIR)$(PREFIX)/lib/lua/5.4/hdd/commands.so
	install -D -m 644 $(BUILD)/hdd/signature.so $(DESTDIR)$(PREFIX)/lib/lua/5.4/hdd/signature.so
	@set -e; for file in $(patsubst lua/%,%,$(LUA_FILES)); do \
	  install -D -m 644 lua/$$file $(DESTDIR)$(PREFIX)/share/lua/5.4/$$file; \
	  install -D -m 644 $(BUILD)/$${file%.lua}.luac $(DESTDIR)$(PREFIX)/lib/lua/5.4/$${file%.lua}.luac; done
	install -m 644 lua/hdd/view/figure/chart.js $(DESTDIR)$(PREFIX)/share/lua/5.4/hdd/view/figure
	install -m 644 lua/hdd/view/html/*.css lua/hdd/view/html/*.js $(DESTDIR)$(PREFIX)/share/lua/5.4/hdd/view/html
	install -d $(DESTDIR)$(PREFIX)/share/hddlua/scripts $(DESTDIR)$(PREFIX)/share/doc/hddlua/examples
	install scripts/*.lua $(DESTDIR)$(PREFIX)/share/hddlua/scripts
	install examples/*.lua $(DESTDIR)$(PREFIX)/share/doc/hddlua/examples
	install -m 644 examples/*.fio $(DESTDIR)$(PREFIX)/share/doc/hddlua/examples
	install -m 644 $(wildcard README.md CHANGELOG.md LICENSE docs/*.md) $(DESTDIR)$(PREFIX)/share/doc/hddlua
	install -d $(DESTDIR)$(PREFIX)/share/doc/hddlua/gallery
	install -m 644 docs/gallery/*.svg $(DESTDIR)$(PREFIX)/share/doc/hddlua/gallery

uninstall:  ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/hddlua
	rm -rf $(DESTDIR)$(PREFIX)/lib/lua/5.4/hdd $(DESTDIR)$(PREFIX)/share/lua/5.4/hdd
	rm -rf $(DESTDIR)$(PREFIX)/share/hddlua $(DESTDIR)$(PREFIX)/share/doc/hddlua

clean:  ## remove everything that was built
	rm -rf build

help:  ## print this list
	@echo 'make TARGET [V=1] [CFLAGS=...] [PREFIX=...]'
	@sed -n 's/^\([a-z]*\):.*  ## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

# Installs what is missing, with apt-get, or says what to install.
packages-demo packages-check: packages-%:
	@build-aux/packages $*

.PHONY: all support demo check spec sanitize fuzz lint bench gallery acceptance install uninstall clean help \
        packages-demo packages-check

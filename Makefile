# SPDX-License-Identifier: GPL-2.0-or-later
# davylamp. 'make help' lists the targets. Everything built or generated goes into out/.

VERSION := 0.1
PREFIX ?= /usr/local
DESTDIR ?=
SBIN_DIR ?= $(PREFIX)/sbin
UNIT_DIR ?= $(PREFIX)/lib/systemd/system
# Where the programs look for the shipped rules: compiled in.
DATA_DIR := $(PREFIX)/share/davylamp
O ?= out
KERNEL ?=
CACHE ?= $(if $(DAVYLAMP_CACHE),$(DAVYLAMP_CACHE),$(HOME)/.cache/davylamp)

CC := gcc
CLANG := clang
BPFTOOL := $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
ARCH_INCLUDE := /usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Wvla -Wundef
ifneq ($(CI),)
WARN += -Werror
endif
HARDEN := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
CFLAGS ?= -O2 -g
BASE_CFLAGS := -std=gnu17 -D_GNU_SOURCE $(WARN) -DDAVY_VERSION='"$(VERSION)"' \
	-isystem /usr/include/libdrm -DDAVY_DATA_DIR='"$(DATA_DIR)"' -isystem $(O)/gen -iquote userspace -iquote .
ALL_CFLAGS = $(BASE_CFLAGS) $(HARDEN) $(CFLAGS)
# The map of paths: BTF names source files, and the programs shall not depend on where they are built.
BPF_CFLAGS := -g -fdebug-prefix-map=$(CURDIR)=. -O2 -target bpf -D__TARGET_ARCH_x86 -I$(ARCH_INCLUDE) -Wall -Wextra \
	-Wno-unused-parameter -Wno-missing-declarations
LDLIBS := -ldrm -ludev -lbpf -lelf -lz -lsystemd -ljansson -lzstd -linih -lsqlite3
DOCTOR_LDLIBS := -lsystemd -ljansson -linih
POLICY_LDLIBS := -ldrm -lsystemd -ljansson -linih -lsqlite3
EXEC_LDLIBS := -ldrm -lsystemd -ljansson -linih -lsqlite3
TRACE_LDLIBS := -lbpf -ljansson
TOP_LDLIBS := -lncursesw -ltinfo -ljansson
EXPORTER_LDLIBS := -lmicrohttpd -ljansson
REPORT_LDLIBS := -ljansson -lzstd -linih
LAB_LDLIBS := -ljansson -lzstd -linih
PROBE_LDLIBS := -lcurl -ljansson
CONTAINER_LDLIBS := -lcurl -ljansson
FLEET_LDLIBS := -lcurl -lnettle -ljansson -linih -lsystemd -lsqlite3 -ldrm
READER_LDLIBS := -ljansson
LDFLAGS ?= -pie -Wl,-z,relro,-z,now

BPF := $(patsubst bpf/%.bpf.c,%,$(wildcard bpf/*.bpf.c))
SKELETONS := $(BPF:%=$(O)/gen/%.skel.h)
sources = $(sort $(foreach dir,$(1),$(wildcard userspace/$(dir)/*.c userspace/$(dir)/*/*.c)))
# The shared code is one archive: the linker takes the objects that a program needs.
SHARED_DIRS := lib core sensors host engines policy store output report act agent verb
SHARED_SRC := $(call sources,$(SHARED_DIRS))
CLI_SRC := $(call sources,cli)
DOCTOR_SRC := $(call sources,doctor)
EXEC_SRC := $(call sources,exec)
POLICY_SRC := $(call sources,policy_cli)
TRACE_SRC := $(call sources,trace)
TOP_SRC := $(call sources,top)
EXPORTER_SRC := $(call sources,exporter)
REPORT_SRC := $(call sources,reporter)
LAB_SRC := $(call sources,lab)
PROBE_SRC := $(call sources,probe)
CONTAINER_SRC := $(call sources,container)
FLEET_SRC := $(call sources,fleet)
READER_SRC := $(call sources,reader)
GUARD_SRC := $(call sources,guard) $(wildcard userspace/act/freeze_*.c) userspace/lib/file.c
objects = $(patsubst %.c,$(O)/$(1)/%.o,$(2))
SHARED := $(O)/obj/libdavylamp.a
# Static and with musl: guard and standby lock all their memory, and glibc's 650 KiB twice are too many.
GUARD_CC := musl-gcc
GUARD_CFLAGS = -std=gnu17 -D_GNU_SOURCE -iquote userspace $(WARN) -fstack-protector-strong -fPIE -ffunction-sections $(CFLAGS)
MUSL := $(firstword $(wildcard /usr/lib/$(shell uname -m)-linux-musl /usr/lib/musl/lib) /usr/lib/musl/lib)
GUARD_LDFLAGS := -static -nostartfiles -Wl,-pie,--no-dynamic-linker,-z,text,-z,relro,-z,now,--gc-sections
GUARD_OBJ := $(call objects,guard,$(GUARD_SRC))
PROGRAMS := $(O)/davylamp $(addprefix $(O)/davylamp-,container doctor exec exporter fleet guard policy probe reader report top trace)
# The laboratory: built for tests and 'make tune', and not installed.
LAB_PROGRAM := $(O)/davylamp-lab

.PHONY: all setup demo test test-unit test-replay test-bpf test-vm test-engine test-walk test-launch test-systemd test-probe test-cli test-foresight tune bench fuzz \
	lint format install uninstall clean help
.DELETE_ON_ERROR:

all: setup
	@$(MAKE) --no-print-directory programs

.PHONY: programs installed-programs lab-program
programs: $(PROGRAMS) $(LAB_PROGRAM)

installed-programs: $(PROGRAMS)

lab-program: $(LAB_PROGRAM)

setup:
	@tests/setup build

# Atomic operations that return a value; all kernels of a supported Debian have them.
$(O)/gen/admit.bpf.o: BPF_CFLAGS += -mcpu=v3

$(O)/gen/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h)
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/gen/%.skel.h: $(O)/gen/%.bpf.o
	$(BPFTOOL) gen skeleton $< name davy_bpf_$* | sed 's|^\treturn err;$$|& /* NOLINT: libbpf has freed it */|' > $@

$(O)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(O)/obj/userspace/sensors/bpf/bpf_table.o $(O)/obj/userspace/trace/follow.o: $(SKELETONS)

# After 'make', 'make install PREFIX=/usr' compiles these files again.
DATA_DIR_SRC := $(shell grep -rl --include='*.c' DAVY_DATA_DIR userspace)
$(call objects,obj,$(DATA_DIR_SRC)) $(call objects,san,$(DATA_DIR_SRC)): $(O)/gen/data_dir

.PHONY: FORCE
$(O)/gen/data_dir: FORCE
	@mkdir -p $(@D)
	@echo '$(DATA_DIR)' | cmp -s - $@ || echo '$(DATA_DIR)' >$@

$(SHARED): $(call objects,obj,$(SHARED_SRC))
	@rm -f $@
	@$(AR) rcs $@ $^

$(O)/davylamp: $(call objects,obj,$(CLI_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -Wl,-Map=$@.map -o $@ $^ $(LDLIBS)

$(O)/davylamp-doctor: $(call objects,obj,$(DOCTOR_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(DOCTOR_LDLIBS)

$(O)/davylamp-exec: $(call objects,obj,$(EXEC_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(EXEC_LDLIBS)

$(O)/davylamp-policy: $(call objects,obj,$(POLICY_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(POLICY_LDLIBS)

$(O)/davylamp-trace: $(call objects,obj,$(TRACE_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(TRACE_LDLIBS)

$(O)/davylamp-top: $(call objects,obj,$(TOP_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(TOP_LDLIBS)

$(O)/davylamp-exporter: $(call objects,obj,$(EXPORTER_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(EXPORTER_LDLIBS)

$(O)/davylamp-fleet: $(call objects,obj,$(FLEET_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(FLEET_LDLIBS)

$(O)/davylamp-report: $(call objects,obj,$(REPORT_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(REPORT_LDLIBS)

$(LAB_PROGRAM): $(call objects,obj,$(LAB_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(LAB_LDLIBS)

$(O)/davylamp-probe: $(call objects,obj,$(PROBE_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(PROBE_LDLIBS)

$(O)/davylamp-container: $(call objects,obj,$(CONTAINER_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(CONTAINER_LDLIBS)

$(O)/guard/%.o: %.c
	@mkdir -p $(@D)
	$(GUARD_CC) $(GUARD_CFLAGS) -MMD -MP -c $< -o $@

$(O)/davylamp-guard: $(GUARD_OBJ)
	$(GUARD_CC) $(GUARD_LDFLAGS) -o $@ $(MUSL)/rcrt1.o $(MUSL)/crti.o $^ $(MUSL)/crtn.o

$(O)/davylamp-reader: $(call objects,obj,$(READER_SRC)) $(SHARED)
	$(CC) $(LDFLAGS) -o $@ $^ $(READER_LDLIBS)

-include $(patsubst %.o,%.d,$(call objects,obj,$(SHARED_SRC) $(CLI_SRC) $(DOCTOR_SRC) $(EXEC_SRC) $(POLICY_SRC) $(TRACE_SRC) $(TOP_SRC) $(EXPORTER_SRC) $(REPORT_SRC) $(LAB_SRC) \
	$(PROBE_SRC) $(CONTAINER_SRC) $(FLEET_SRC) $(READER_SRC)) $(GUARD_OBJ))

include tests/tests.mk

# Programs without a manual page of their own have davylamp(8).
PAGES := $(filter-out $(notdir $(wildcard man/*.8)),$(PROGRAMS:$(O)/%=%.8))
UNITS := davylamp.service davylamp-exporter.service davylamp-fleet.service
BASH_DIR := share/bash-completion/completions
FISH_DIR := share/fish/vendor_completions.d
ZSH_DIR ?= share/zsh/site-functions
# What 'make install' writes below PREFIX, beside the programs, the unit and DATA_DIR.
INSTALLED := $(patsubst man/%,share/man/man5/%,$(wildcard man/*.5)) \
	$(addprefix share/man/man8/,$(notdir $(wildcard man/*.8)) $(PAGES)) \
	$(BASH_DIR)/davylamp $(FISH_DIR)/davylamp.fish $(ZSH_DIR)/_davylamp lib/sysusers.d/davylamp.conf

install: $(PROGRAMS)
	install -d $(DESTDIR)$(SBIN_DIR) $(DESTDIR)$(UNIT_DIR) $(addprefix $(DESTDIR)$(PREFIX)/share/davylamp/,policies/schema monitoring) \
		$(addprefix $(DESTDIR)$(PREFIX)/,$(sort $(dir $(INSTALLED))))
	install -m 755 $(PROGRAMS) $(DESTDIR)$(SBIN_DIR)
	install -m 644 policies/*.conf $(DESTDIR)$(PREFIX)/share/davylamp/policies
	install -m 644 policies/schema/*.json $(DESTDIR)$(PREFIX)/share/davylamp/policies/schema
	install -m 644 $(filter-out %/node-problem,$(wildcard policies/monitoring/*)) $(DESTDIR)$(PREFIX)/share/davylamp/monitoring
	install -m 755 policies/monitoring/node-problem $(DESTDIR)$(PREFIX)/share/davylamp/monitoring
	install -m 755 packaging/leave completion/words $(DESTDIR)$(PREFIX)/share/davylamp
	install -m 644 man/*.8 $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 644 man/*.5 $(DESTDIR)$(PREFIX)/share/man/man5
	for page in $(PAGES); do echo '.so man8/davylamp.8' >$(DESTDIR)$(PREFIX)/share/man/man8/$$page; done
	install -m 644 completion/davylamp.bash $(DESTDIR)$(PREFIX)/$(BASH_DIR)/davylamp
	sed 's|@DATA_DIR@|$(PREFIX)/share/davylamp|g' completion/davylamp.fish >$(DESTDIR)$(PREFIX)/$(FISH_DIR)/davylamp.fish
	sed 's|@DATA_DIR@|$(PREFIX)/share/davylamp|g' completion/_davylamp >$(DESTDIR)$(PREFIX)/$(ZSH_DIR)/_davylamp
	for unit in $(UNITS); do sed 's|@PREFIX@/sbin|$(SBIN_DIR)|g' policies/$$unit.in >$(DESTDIR)$(UNIT_DIR)/$$unit || exit 1; done
	install -m 644 policies/davylamp.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/davylamp.conf

uninstall:
	rm -f $(PROGRAMS:$(O)/%=$(DESTDIR)$(SBIN_DIR)/%) $(addprefix $(DESTDIR)$(UNIT_DIR)/,$(UNITS)) \
		$(addprefix $(DESTDIR)$(PREFIX)/,$(INSTALLED))
	rm -rf $(DESTDIR)$(PREFIX)/share/davylamp

# Both pack what is committed.
.PHONY: dist deb
dist:
	@packaging/dist $(VERSION) $(O)

deb:
	@tests/setup build package
	@packaging/deb $(VERSION) $(O)

clean:
	rm -rf $(O)

help:
	@echo "davylamp $(VERSION)"
	@echo "  make              build out/davylamp, the programs it starts, and the laboratory"
	@echo "  make demo         a real llama-server loses its device; davylamp moves it to the CPU"
	@echo "  make test         every test that can run here; ends with the number of passed,"
	@echo "                    failed and skipped tests. One suite:"
	@echo "    test-unit test-replay test-foresight test-bpf test-vm test-engine test-walk"
	@echo "    test-launch test-systemd test-probe test-doctor test-nvidia test-cli test-top"
	@echo "    test-report test-exporter test-schema test-fleet test-chaos test-package"
	@echo "    ('make test-vm KERNEL=6.1': one kernel; 'make test TEST_MINUTES=180': no suite begins"
	@echo "    later, 70 unless set)"
	@echo "  make dmem-kernel  build a kernel with the dmem controller for 'make test-vm' (40 minutes)"
	@echo "  make tune         score the thresholds over 339 synthetic traces, and search for better ones"
	@echo "  make bench        cost beside its targets and other tools (BASE=REVISION: and beside that build)"
	@echo "  make chaos        inject seeded faults and audit the host after each: SEED=1 MINUTES=10,"
	@echo "                    KERNEL=6.12 for the VM (docs/chaos.md)"
	@echo "  make fuzz         fuzz the parsers and the core (long; FUZZ_RUNS=1000000)"
	@echo "  make lint         layers, purity of the core, format, clang-tidy, cppcheck"
	@echo "  make format       clang-format in place"
	@echo "  make install      PREFIX=/usr/local DESTDIR="
	@echo "  make uninstall clean setup"
	@echo "  make dist         out/davylamp-$(VERSION).tar.xz of the committed tree, reproducible"
	@echo "  make deb          Debian packages of the committed tree in out/deb"

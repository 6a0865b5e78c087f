# SPDX-License-Identifier: GPL-2.0-or-later
# Tests, benches, fuzzing, lint. Included by the Makefile; paths are from the top.

# -g1 is what a backtrace needs; -g takes half as long again to compile.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SAN_CFLAGS := $(BASE_CFLAGS) -O1 -g1 $(SANITIZE)
# What unit tests link: all but the programs' main() and the command line.
SAN_LIB := $(O)/san/libdavylamp.a
SAN_LIB_SRC := $(filter-out %_main.c,$(SHARED_SRC) $(call sources,guard reader container doctor exec exporter fleet policy_cli reporter top trace lab))
SAN_LIB_OBJ := $(call objects,san,$(SAN_LIB_SRC))
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(O)/unit/%)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(O)/fuzz/%)
FUZZ_LIB := $(O)/fuzz-lib/libdavylamp.a
FUZZ_LIB_SRC := $(filter-out userspace/sensors/bpf/%,$(call sources,$(filter-out agent host,$(SHARED_DIRS)))) \
	$(filter-out %/follow.c %_main.c,$(call sources,trace)) userspace/lab/label.c \
	$(wildcard userspace/doctor/check_*.c userspace/doctor/print*.c) $(filter-out %_main.c,$(call sources,container)) \
	$(filter-out %_main.c,$(call sources,fleet)) \
	$(addprefix userspace/doctor/,catalogue.c facts.c doctor_finding.c doctor_judge.c next.c)
STAGE := $(abspath $(O))/stage
# Those that take long come first: when the time is up, what runs is then soon at its end.
SUITES := lint unit fuzz replay foresight bpf vm engine container walk launch systemd probe doctor nvidia cli top report exporter schema fleet chaos package
# After so many minutes no suite begins, and after two thirds of them no guest of vm.
TEST_MINUTES := 70

export O CACHE STAGE KERNEL

.PHONY: setup-test setup-lint san-programs stage lab lab-container

setup-test:
	@tests/setup build test

setup-lint:
	@tests/setup build lint

$(O)/san/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(SAN_CFLAGS) -MMD -MP -c $< -o $@

$(O)/san/userspace/sensors/bpf/bpf_table.o $(O)/san/userspace/trace/follow.o: $(SKELETONS)

$(SAN_LIB): $(SAN_LIB_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^

$(O)/san/davylamp: $(call objects,san,$(CLI_SRC)) $(SAN_LIB)
	$(CC) $(SANITIZE) -o $@ $^ $(LDLIBS)

SAN_EXTRA := container doctor exec exporter fleet policy report top trace lab
# The folder of a program's source is its name, but for these two: the libraries have the names.
san_folder = $(patsubst report,reporter,$(patsubst policy,policy_cli,$(1)))
$(foreach name,$(SAN_EXTRA),$(eval $(O)/san/davylamp-$(name): $(O)/san/userspace/$(call san_folder,$(name))/$(name)_main.o))
$(SAN_EXTRA:%=$(O)/san/davylamp-%): $(SAN_LIB)
	$(CC) $(SANITIZE) -o $@ $(filter %.o,$^) $(SAN_LIB) $(LDLIBS) $(if $(filter %-top,$@),$(TOP_LDLIBS)) \
		$(if $(filter %-exporter,$@),$(EXPORTER_LDLIBS)) $(if $(filter %-container,$@),$(CONTAINER_LDLIBS)) $(if $(filter %-fleet,$@),$(FLEET_LDLIBS))

$(O)/san/davylamp-reader: $(call objects,san,$(READER_SRC)) $(SAN_LIB)
	$(CC) $(SANITIZE) -o $@ $^ $(READER_LDLIBS)

san-programs: $(O)/san/davylamp $(O)/san/davylamp-reader $(SAN_EXTRA:%=$(O)/san/davylamp-%)

$(O)/unit/%: tests/unit/%.c $(wildcard tests/unit/*.h) $(SAN_LIB) | $(O)/san/davylamp-reader $(O)/davylamp-probe
	@mkdir -p $(@D)
	$(CC) $(SAN_CFLAGS) -o $@ $< $(SAN_LIB) -lcmocka $(LDLIBS)

FUZZ_CFLAGS := -std=gnu17 -D_GNU_SOURCE -g1 -O1 -fno-sanitize-recover=undefined -DDAVY_VERSION='"$(VERSION)"' \
	-DDAVY_DATA_DIR='"x"' -isystem /usr/include/libdrm -iquote userspace -iquote .
FUZZ_LIB_OBJ := $(call objects,fuzz-lib,$(FUZZ_LIB_SRC))

$(O)/fuzz-lib/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c $< -o $@

$(FUZZ_LIB): $(FUZZ_LIB_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^

$(O)/fuzz/%: tests/fuzz/%.c $(FUZZ_LIB)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer,address,undefined -o $@ $< $(FUZZ_LIB) \
		-ljansson -lzstd -linih -lsystemd -lsqlite3 -lcurl -lnettle

-include $(patsubst %.o,%.d,$(SAN_LIB_OBJ) $(FUZZ_LIB_OBJ) $(call objects,san,$(call sources,cli reader $(call san_folder,$(SAN_EXTRA)))))

# The programs as installed on a host: what the tests run. Without DATA_DIR they would be compiled again for /usr.
stage: programs
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(STAGE) DATA_DIR=$(DATA_DIR) >/dev/null

lab: $(O)/lab/mkmodel $(O)/lab/vk/libVkLayer_davylamp_fault.so $(O)/lab/libfailgraph.so $(O)/lab/standin

$(O)/container/%: tests/container/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -o $@ $<

$(O)/fleet/swarm: tests/fleet/swarm.c $(call objects,obj,$(filter-out %_main.c,$(FLEET_SRC))) $(SHARED)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -o $@ $^ $(FLEET_LDLIBS)

lab-container: $(O)/san/davylamp-container $(O)/container/cutter $(O)/container/liar

$(O)/lab/libfailgraph.so: tests/e2e/failgraph.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -fPIC -shared -o $@ $<

$(O)/lab/standin: $(wildcard tests/walk/*.[ch])
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -o $@ $(filter %.c,$^)

$(O)/lab/mkmodel: $(wildcard tests/e2e/mkmodel/*)
	@$(MAKE) --no-print-directory -s -C tests/e2e/mkmodel O=$(abspath $(O))/lab

$(O)/lab/vk/libVkLayer_davylamp_fault.so: $(wildcard tests/e2e/vkfault/*)
	@$(MAKE) --no-print-directory -s -C tests/e2e/vkfault O=$(abspath $(O))/lab/vk

test: export TEST_UNTIL := $(shell date -d '$(TEST_MINUTES) minutes' +%s)
test: export VM_UNTIL := $(shell date -d "$$(($(TEST_MINUTES) * 40)) seconds" +%s)
test: setup-test
	@tests/setup package
	@$(MAKE) --no-print-directory -s -j"$$(nproc)" programs san-programs lab lab-systemd lab-chaos lab-container $(O)/fleet/swarm $(O)/exporter/tries.so $(UNIT_BIN) $(FUZZ_BIN)
	@$(MAKE) --no-print-directory -s stage
	@tests/run $(SUITES)

test-unit: setup-test
	@$(MAKE) --no-print-directory -s $(UNIT_BIN) $(FUZZ_BIN)
	@tests/run unit fuzz

test-replay: setup-test
	@$(MAKE) --no-print-directory -s san-programs
	@tests/run replay

test-foresight: setup-test
	@$(MAKE) --no-print-directory -s programs
	@tests/run foresight

# The project's set of labelled traces, always identical, and the scores of the thresholds over it.
TUNE_SETS := failures:5 benign:4 days:1
# Recorded ones: from the tests in VMs and with engines, whose faults are injected without precursors.
TUNE_RECORDED := $(wildcard tests/replay/vm-*.trace) $(patsubst %,tests/replay/%.trace,crash hang zombie)
tune: setup
	@$(MAKE) --no-print-directory -s programs
	@rm -rf $(O)/tune
	@for set in $(TUNE_SETS); do \
		$(O)/davylamp trace synth $${set%:*} --seed 1 --count $${set#*:} --out $(O)/tune/$${set%:*} || exit 1; \
	done
	@echo "$(O)/davylamp tune $(addprefix $(O)/tune/,failures benign days) $(TUNE_RECORDED)"
	@$(O)/davylamp tune $(addprefix $(O)/tune/,failures benign days) $(TUNE_RECORDED)
	@echo "the traces again: $(foreach set,$(TUNE_SETS),$(O)/davylamp trace synth $(firstword $(subst :, ,$(set))) --seed 1 \
		--count $(lastword $(subst :, ,$(set))) --out $(O)/tune/$(firstword $(subst :, ,$(set)));)"

test-bpf: setup-test
	@$(MAKE) --no-print-directory -s stage
	@tests/run bpf

test-vm: setup-test
	@$(MAKE) --no-print-directory -s stage lab-systemd
	@tests/run vm

dmem-kernel:
	@tests/vm/build-dmem-kernel.sh $(CACHE)/kernel

test-engine: setup-test
	@$(MAKE) --no-print-directory -s stage lab san-programs
	@tests/run engine

test-walk: setup-test
	@$(MAKE) --no-print-directory -s stage lab
	@tests/run walk

test-launch: setup-test
	@$(MAKE) --no-print-directory -s stage lab
	@tests/run launch

test-probe: setup-test
	@$(MAKE) --no-print-directory -s stage lab
	@tests/run probe

.PHONY: test-doctor
test-doctor: setup-test
	@$(MAKE) --no-print-directory -s stage lab
	@tests/run doctor

.PHONY: test-nvidia
test-nvidia: setup-test
	@$(MAKE) --no-print-directory -s stage
	@tests/run nvidia

$(O)/systemd/ollama: tests/systemd/ollama.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-format-truncation -static -o $@ $< -ljansson

$(O)/systemd/send: tests/cli/send.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -Wall -Wextra -o $@ $<

.PHONY: lab-systemd
lab-systemd: $(O)/systemd/ollama $(O)/systemd/send

test-systemd: setup-test
	@$(MAKE) --no-print-directory -s stage lab lab-systemd
	@tests/run systemd

test-cli: setup-test
	@$(MAKE) --no-print-directory -s stage san-programs
	@tests/run cli

.PHONY: test-top
test-top: setup-test
	@$(MAKE) --no-print-directory -s stage lab san-programs
	@tests/run top

.PHONY: test-report
test-report: setup-test
	@$(MAKE) --no-print-directory -s stage san-programs
	@tests/run report

.PHONY: test-exporter
test-exporter: setup-test
	@$(MAKE) --no-print-directory -s stage san-programs $(O)/exporter/tries.so
	@tests/run exporter

$(O)/exporter/tries.so: tests/exporter/tries.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -Wall -Wextra -shared -fPIC -o $@ $<

.PHONY: test-fleet
test-fleet: setup-test
	@$(MAKE) --no-print-directory -s stage lab $(O)/fleet/swarm
	@tests/run fleet

.PHONY: test-container
test-container: setup-test
	@$(MAKE) --no-print-directory -s stage lab lab-container
	@tests/run container

.PHONY: test-schema
test-schema: setup-test
	@$(MAKE) --no-print-directory -s stage
	@tests/run schema

.PHONY: test-package
test-package: setup-test
	@tests/setup build package
	@$(MAKE) --no-print-directory -s lab lab-systemd
	@tests/run package

# Tools of the fault campaign; thrower.cc has an engine's name.
.PHONY: lab-chaos chaos test-chaos
lab-chaos: $(addprefix $(O)/chaos/,preload.so storm flood llama-server)

CHAOS_CFLAGS := -std=gnu17 -D_GNU_SOURCE -O2 -g $(WARN)
$(O)/chaos/preload.so: tests/chaos/preload.c
	@mkdir -p $(@D)
	$(CC) $(CHAOS_CFLAGS) -shared -fPIC -fno-optimize-sibling-calls -o $@ $<

$(O)/chaos/llama-server: tests/bpf/thrower.cc
	@mkdir -p $(@D)
	g++ -O2 -o $@ $<

$(O)/chaos/%: tests/chaos/%.c
	@mkdir -p $(@D)
	$(CC) $(CHAOS_CFLAGS) -o $@ $<

test-chaos: setup-test
	@$(MAKE) --no-print-directory -s stage lab lab-chaos
	@tests/run chaos

# make chaos [SEED=n] [MINUTES=m] [STEP=k]; with KERNEL=6.12 in the VM instead of on this machine.
SEED ?= 1
MINUTES ?= 10
STEP ?=
chaos: setup-test
	@$(MAKE) --no-print-directory -s stage lab lab-chaos
	@if [ -n "$(KERNEL)" ]; then SEED=$(SEED) MINUTES=$(MINUTES) STEP=$(STEP) PART=chaos bash tests/vm/run; \
		else SEED=$(SEED) MINUTES=$(MINUTES) STEP=$(STEP) KIND=$(KIND) tests/chaos/run; fi

demo: setup-test
	@$(MAKE) --no-print-directory -s stage lab
	@tests/e2e/demo

FUZZ_RUNS ?= 1000000
fuzz: setup-test
	@$(MAKE) --no-print-directory -s $(FUZZ_BIN)
	@FUZZ_RUNS=$(FUZZ_RUNS) tests/fuzz/long

# The drivers' programs that are measured without their drivers.
BENCH_BPF := amdgpu amdgpu_tdr drm drm_sched fence i915

.PHONY: bench-programs
bench-programs: $(addprefix $(O)/bench/,core months clients hooks react llama-server) $(BENCH_BPF:%=$(O)/gen/%.bpf.o) $(O)/gen/parts.bpf.o $(O)/gen/many.bpf.o

bench: setup-test
	@$(MAKE) --no-print-directory -s stage lab bench-programs
	@BASE="$(BASE)" ONLY="$(ONLY)" tests/bench/run

$(O)/bench/core: tests/bench/core.c $(SHARED)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -o $@ $^

$(O)/bench/hooks: tests/bench/hooks.c tests/bench/many.h bpf/wire.h
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -Ibpf -o $@ $< -lbpf -lpthread

$(O)/gen/parts.bpf.o: tests/bench/parts.bpf.c
$(O)/gen/many.bpf.o: tests/bench/many.bpf.c tests/bench/many.h bpf/amdgpu.bpf.c
$(O)/gen/parts.bpf.o $(O)/gen/many.bpf.o:
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(O)/bench/llama-server: tests/bench/engine.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -o $@ $<

$(O)/bench/clients $(O)/bench/react: $(O)/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -o $@ $<

$(O)/bench/months: tests/bench/months.c $(call objects,obj,$(wildcard userspace/lab/months*.c) userspace/lab/random.c) $(SHARED)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -o $@ $^

lint: setup-lint
	@$(MAKE) --no-print-directory -s programs
	@LINT=all tests/lint/run

format: setup-lint
	clang-format -i $$(git ls-files '*.c' '*.h')

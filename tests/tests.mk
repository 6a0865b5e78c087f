# SPDX-License-Identifier: GPL-2.0-or-later
# Tests, benches, fuzzing, lint. Included by the Makefile; paths are from the top.

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
SAN_CFLAGS := $(BASE_CFLAGS) -O1 -g $(SANITIZE)
TEST_LIB_SRC := $(filter-out userspace/agent/% userspace/verbs/%,$(AGENT_SRC))
TEST_LIB_OBJ := $(TEST_LIB_SRC:%.c=$(O)/san/%.o)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(O)/unit/%)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(O)/fuzz/%)
FUZZ_LIB_SRC := $(CORE_SRC) $(LIB_SRC) userspace/store/trace.c userspace/store/learned.c \
	userspace/store/config_file.c userspace/act/check.c $(wildcard userspace/act/probe_*.c) \
	$(wildcard userspace/engines/*.c) \
	$(wildcard userspace/report/*.c userspace/sensors/kmsg_*.c) userspace/sensors/cgroup_name.c userspace/sensors/model_file.c \
	userspace/sensors/ollama_name.c
STAGE := $(abspath $(O))/stage
SUITES := lint unit replay bpf vm engine probe cli

export O CACHE STAGE KERNEL

.PHONY: setup-test setup-lint san-programs stage lab

setup-test:
	@tests/setup build test

setup-lint:
	@tests/setup build lint

$(O)/san/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(SAN_CFLAGS) -MMD -MP -c $< -o $@

$(O)/san/userspace/sensors/bpf_table.o: $(SKELETONS)

SAN_AGENT_OBJ := $(AGENT_SRC:%.c=$(O)/san/%.o)

$(O)/san/davylamp: $(SAN_AGENT_OBJ)
	$(CC) $(SANITIZE) -o $@ $^ $(LDLIBS)

san-programs: $(O)/san/davylamp

$(O)/unit/%: tests/unit/%.c $(wildcard tests/unit/*.h) $(TEST_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(SAN_CFLAGS) -o $@ $< $(TEST_LIB_OBJ) -lcmocka $(LDLIBS)

$(O)/fuzz/%: tests/fuzz/%.c $(FUZZ_LIB_SRC)
	@mkdir -p $(@D)
	$(CLANG) -std=gnu17 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -o $@ $< \
		$(FUZZ_LIB_SRC) -ljansson -lzstd -linih -lsystemd

-include $(TEST_LIB_OBJ:.o=.d) $(SAN_AGENT_OBJ:.o=.d)

# The programs as a host would have them: what the tests run.
stage: programs
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(STAGE) >/dev/null

lab: $(O)/lab/mkmodel $(O)/lab/vk/libVkLayer_davylamp_fault.so

$(O)/lab/mkmodel: $(wildcard tests/e2e/mkmodel/*)
	@$(MAKE) --no-print-directory -s -C tests/e2e/mkmodel O=$(abspath $(O))/lab

$(O)/lab/vk/libVkLayer_davylamp_fault.so: $(wildcard tests/e2e/vkfault/*)
	@$(MAKE) --no-print-directory -s -C tests/e2e/vkfault O=$(abspath $(O))/lab/vk

test: setup-test
	@$(MAKE) --no-print-directory -s stage san-programs lab $(UNIT_BIN) $(FUZZ_BIN)
	@tests/run $(SUITES)

test-unit: setup-test
	@$(MAKE) --no-print-directory -s $(UNIT_BIN) $(FUZZ_BIN)
	@tests/run unit

test-replay: setup-test
	@$(MAKE) --no-print-directory -s san-programs
	@tests/run replay

test-bpf: setup-test
	@$(MAKE) --no-print-directory -s stage
	@tests/run bpf

test-vm: setup-test
	@$(MAKE) --no-print-directory -s stage
	@tests/run vm

test-engine: setup-test
	@$(MAKE) --no-print-directory -s stage lab san-programs
	@tests/run engine

test-probe: setup-test
	@$(MAKE) --no-print-directory -s stage lab
	@tests/run probe

test-cli: setup-test
	@$(MAKE) --no-print-directory -s stage san-programs
	@tests/run cli

demo: setup-test
	@$(MAKE) --no-print-directory -s stage lab
	@tests/e2e/demo

FUZZ_RUNS ?= 1000000
fuzz: setup-test
	@$(MAKE) --no-print-directory -s $(FUZZ_BIN)
	@FUZZ_RUNS=$(FUZZ_RUNS) tests/fuzz/long

bench: setup-test
	@$(MAKE) --no-print-directory -s stage lab $(O)/bench/core
	@tests/bench/run

$(O)/bench/core: tests/bench/core.c $(CORE_SRC)
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -O2 -o $@ $< $(CORE_SRC)

lint: setup-lint
	@$(MAKE) --no-print-directory -s $(SKELETONS) $(CORE_SRC:%.c=$(O)/obj/%.o)
	@LINT=all tests/lint/run

format: setup-lint
	clang-format -i $$(git ls-files '*.c' '*.h')

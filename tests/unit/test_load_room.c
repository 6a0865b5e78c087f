/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exhaustion: what is known of the room that a load, or managed memory, needs. */
#include "memory_history.h"

#define VRAM   (24 * GB)
#define PID    50
#define SECOND "0000:0a:00.0"

static uint64_t base, rate, target;

static uint64_t held(uint64_t ms)
{
	(void)ms;
	return base;
}

static uint64_t growing(uint64_t ms)
{
	uint64_t used = base + rate / 1000 * ms;

	return used < target ? used : target;
}

static void begin_engine(uint64_t from, uint64_t by, uint64_t until)
{
	begin_card(VRAM, 32 * GB);
	holder = PID;
	process(PID, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_ROCM);
	vram_of = held;
	base = from;
	rate = by;
	target = until;
	live(20 * S);
	vram_of = growing;
}

static void computes_for(uint32_t pid, uint64_t seconds)
{
	struct davy_event ev;

	base = card.vram_used;
	vram_of = held;
	for (uint64_t i = 0; i < seconds; i += 10) {
		ev = event(DAVY_EV_GRAPH, pid);
		ev.graph.graph_count = i + 1;
		ev.graph.last_ns = ev.graph.max_ns = 20 * MS;
		tell(&ev);
		live(10 * S);
	}
}

/* llama-bench, model after model: the next load ends where the last one did. */
static void a_load_to_where_an_engine_has_computed_is_a_note(void **state)
{
	size_t before;

	(void)state;
	begin_engine(600 * MB, 2 * GB, VRAM / 100 * 98);
	live(40 * S);
	assert_true(highest(DAVY_HZ_EXHAUSTION) > 1);
	computes_for(PID, 240);
	ends(PID, 0);
	holder = PID + 1;
	process(PID + 1, 0, DAVY_ENGINE_LLAMA_SERVER, DAVY_BACKEND_VULKAN);
	base = 600 * MB;
	live(20 * S);
	before = kept_count;
	vram_of = growing;
	live(40 * S);
	for (size_t i = before; i < kept_count; i++)
		assert_true(kept[i].kind != DAVY_PLAN_NOTE || kept[i].level == 1);
}

static void has_second_card(void)
{
	struct davy_event ev = event(DAVY_EV_MEMORY, 0);

	davy_copy_name(ev.memory.device, sizeof(ev.memory.device), SECOND);
	ev.memory.vram_total = VRAM;
	tell(&ev);
	ev = event(DAVY_EV_CLIENT, PID);
	davy_copy_name(ev.client.device, sizeof(ev.client.device), SECOND);
	ev.client.client_id = 1;
	ev.client.vram = 300 * MB;
	tell(&ev);
}

static uint32_t level_of_load(bool second)
{
	struct davy_event ev;

	begin_engine(600 * MB, 900 * MB, VRAM - 500 * MB);
	ev = event(DAVY_EV_PROCESS, PID);
	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.model_bytes = 40 * GB;
	ev.process.gpu_layers = DAVY_LAYERS_ALL;
	tell(&ev);
	if (second)
		has_second_card();
	live(((target - base) / rate + 1) * S);
	return highest(DAVY_HZ_EXHAUSTION);
}

/* int-xe-006: a model of 40 GB is loaded to a card of 24 GB. */
static void a_load_that_cannot_fit_is_told_before_its_end(void **state)
{
	(void)state;
	assert_int_equal(level_of_load(false), 3);
	assert_int_equal(level_of_load(true), 1); /* the rest may go there */
}

/* XNACK: the driver moves pages of managed memory out of VRAM, and back. */
static void full_vram_of_managed_memory_is_a_note(void **state)
{
	struct davy_event ev;

	(void)state;
	for (int pages = 0; pages <= 5000; pages += 5000) {
		begin_engine(VRAM - 10 * GB, 250 * MB, VRAM);
		vram_of = held;
		live(30 * S);
		ev = event(DAVY_EV_KFD_USE, PID);
		davy_copy_name(ev.kfd_use.device, sizeof(ev.kfd_use.device), GPU);
		ev.kfd_use.queue_count = 4;
		ev.kfd_use.pages_out = (uint64_t)pages;
		tell(&ev);
		vram_of = growing;
		live(41 * S);
		assert_int_equal(highest(DAVY_HZ_EXHAUSTION), pages ? 1 : 3);
	}
}

/* ComfyUI loads a checkpoint for each picture; PyTorch keeps what it has freed. */
static void little_room_beside_pytorch_is_a_note(void **state)
{
	static const enum davy_engine engines[] = { DAVY_ENGINE_LLAMA_SERVER, DAVY_ENGINE_COMFYUI };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin_engine(2 * GB, 9 * GB, VRAM - 300 * MIB);
		process(PID, 0, engines[i], DAVY_BACKEND_ROCM);
		live(11 * S);
		vram_of = held;
		base = card.vram_used;
		live(20 * S);
		assert_int_equal(highest(DAVY_HZ_EXHAUSTION), i ? 1 : 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_load_to_where_an_engine_has_computed_is_a_note),
		cmocka_unit_test(a_load_that_cannot_fit_is_told_before_its_end),
		cmocka_unit_test(full_vram_of_managed_memory_is_a_note),
		cmocka_unit_test(little_room_beside_pytorch_is_a_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

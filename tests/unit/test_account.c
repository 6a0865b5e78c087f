/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of an incident in a trace; the redacted one has none of 200 planted secrets. */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/core.h"
#include "lib/message.h"
#include "reporter/dossier.h"
#include "store/trace.h"

#define GPU	  "0000:03:00.0"
#define PROCESSES 25
#define FIELDS	  8 /* secrets of each process: 200 */

static char path[] = "/tmp/davylamp-account.XXXXXX";
static struct davy_trace_writer *trace;
static uint64_t now_ns;

static void account_tell(struct davy_event ev)
{
	ev.at_ns = now_ns += DAVY_NS_PER_MS * 100;
	assert_true(davy_event_valid(&ev));
	assert_int_equal(davy_trace_write(trace, &ev), 0);
}

static void secret(char *buf, size_t size, int process, int field)
{
	snprintf(buf, size, "secret%03dx", process * FIELDS + field);
}

#define PLANT(member, field) secret(member, sizeof(member), i, field)

static void plant_process(int i)
{
	struct davy_event ev = { .kind = DAVY_EV_PROCESS, .pid = 1000 + (uint32_t)i };

	ev.process.engine = DAVY_ENGINE_LLAMA_SERVER;
	ev.process.backend = DAVY_BACKEND_VULKAN;
	davy_copy_name(ev.process.device, sizeof(ev.process.device), GPU);
	PLANT(ev.process.comm, 0);
	PLANT(ev.process.model, 1);
	PLANT(ev.process.architecture, 2);
	PLANT(ev.process.unit, 3);
	PLANT(ev.process.container, 4);
	PLANT(ev.process.pod, 5);
	account_tell(ev);
}

static void plant_failures(int i)
{
	struct davy_event thrown = { .kind = DAVY_EV_THROW, .pid = 1000 + (uint32_t)i };
	struct davy_event sensor = { .kind = DAVY_EV_SENSOR };
	struct davy_event device = { .kind = DAVY_EV_DEVICE };
	struct davy_event ring = { .kind = DAVY_EV_RING, .pid = 1000 + (uint32_t)i };

	davy_copy_name(thrown.thrown.type, sizeof(thrown.thrown.type), "N2vk15DeviceLostErrorE");
	account_tell(thrown);
	davy_copy_name(sensor.sensor.name, sizeof(sensor.sensor.name), "engine");
	sensor.sensor.state = DAVY_SENSOR_LOST;
	PLANT(sensor.sensor.reason, 6);
	account_tell(sensor);
	davy_copy_name(device.device.device, sizeof(device.device.device), GPU);
	PLANT(device.device.detail, 7);
	device.device.change = DAVY_DEVICE_ADDED;
	account_tell(device);
	davy_copy_name(ring.ring.device, sizeof(ring.ring.device), GPU);
	davy_copy_name(ring.ring.ring, sizeof(ring.ring.ring), "gfx_0.0.0");
	ring.ring.timeout_ns = 2 * DAVY_NS_PER_S;
	ring.ring.age_ns = 1800 * DAVY_NS_PER_MS;
	ring.ring.fence_seqno = (uint64_t)i;
	account_tell(ring);
}

static int write_trace(void **state)
{
	struct davy_event clock = { .kind = DAVY_EV_CLOCK, .clock.wall_s = 1700000000 };
	struct davy_event memory = { .kind = DAVY_EV_MEMORY };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(davy_trace_create(path, &trace), 0);
	now_ns = 1000 * DAVY_NS_PER_S;
	account_tell(clock);
	davy_copy_name(memory.memory.device, sizeof(memory.memory.device), GPU);
	memory.memory.vram_total = 16ull << 30;
	for (int i = 0; i < PROCESSES; i++) {
		memory.memory.vram_used = (uint64_t)i << 28;
		account_tell(memory);
		plant_process(i);
		plant_failures(i);
	}
	return davy_trace_close(trace);
}

static int remove_trace(void **state)
{
	(void)state;
	return unlink(path);
}

/* All forms of the account in one text; the caller frees it. */
static char *forms(bool redact, size_t *ret_html)
{
	struct davy_dossier *d = calloc(1, sizeof(*d));
	const struct davy_told_incident *in;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	long html;

	assert_non_null(d);
	assert_non_null(out);
	assert_int_equal(davy_dossier_of_trace(d, path), 0);
	assert_true(d->incidents.count > 0);
	for (size_t i = 0; i < d->incidents.count; i++) {
		json_t *account;

		in = &d->incidents.at[i];
		account = davy_account(d, in, redact);
		html = ftell(out);
		davy_account_html(account, d, in, out);
		*ret_html = (size_t)(ftell(out) - html);
		davy_account_text(account, out);
		json_dumpf(account, out, 0);
		assert_true(davy_account_upstream(account, "drm-amd", out));
		assert_true(davy_account_upstream(account, "llama.cpp", out));
		assert_true(davy_account_upstream(account, "ollama", out));
		assert_false(davy_account_upstream(account, "other", out));
		json_decref(account);
	}
	davy_dossier_done(d);
	free(d);
	fclose(out);
	return text;
}

static int count_secrets(const char *text)
{
	char one[32];
	int found = 0;

	for (int i = 0; i < PROCESSES * FIELDS; i++) {
		secret(one, sizeof(one), i / FIELDS, i % FIELDS);
		found += strstr(text, one) != NULL;
	}
	return found;
}

static void the_account_names_what_is_known(void **state)
{
	size_t html;
	char *text = forms(false, &html);

	(void)state;
	assert_true(count_secrets(text) > 100); /* so the next test can fail */
	assert_non_null(strstr(text, "engine_exception"));
	assert_non_null(strstr(text, "job_stall"));
	assert_non_null(strstr(text, "2023-11-14T22:"));
	assert_non_null(strstr(text, "<polyline"));
	assert_true(html < 300000);
	free(text);
}

static void the_redacted_account_has_no_secret(void **state)
{
	size_t html;
	char *text = forms(true, &html);

	(void)state;
	assert_int_equal(count_secrets(text), 0);
	assert_null(strstr(text, "secret"));
	assert_non_null(strstr(text, "engine_exception"));
	assert_non_null(strstr(text, "process-1"));
	assert_non_null(strstr(text, "model-1"));
	assert_non_null(strstr(text, GPU));
	assert_non_null(strstr(text, "gfx_0.0.0"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_account_names_what_is_known),
		cmocka_unit_test(the_redacted_account_has_no_secret),
	};

	return cmocka_run_group_tests(tests, write_trace, remove_trace);
}

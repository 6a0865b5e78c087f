/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/text.h"
#include "sensors/proc/engine_parts.h"
#include "sensors/gpu/host_memory.h"
#include "store/ledger.h"
#include "cli/exec_case.h"
#include "cli/verbs.h"

/* A line from somebody else's mouth. */
static const char *safe(char buf[512], const char *text)
{
	return dl_text_safe(buf, 512, text);
}

/*
 * Vulkan is asked unless the CPU is: that runs drivers, and takes as long as they do. What is no
 * engine is told a device only when one is chosen.
 */
static void find_devices(struct dl_exec_case *c)
{
	const char *visible = getenv("GGML_VK_VISIBLE_DEVICES");
	bool engine = c->launch.facts.engine != DL_ENGINE_NONE;
	json_t *answer = NULL;

	if (c->options.backend != DL_BACKEND_CPU && (engine || c->options.device))
		answer = dl_host_vulkan(c->vulkan_why);
	c->device_count = dl_host_devices(answer, visible, c->devices, DL_HOST_DEVICES_MAX);
	json_decref(answer);
}

static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789")] == 0;
}

/* By PCI address, or by its number in the list. */
static struct dl_host_device *asked_for(struct dl_exec_case *c)
{
	const char *asked = c->options.device;
	unsigned long number = is_number(asked) ? strtoul(asked, NULL, 10) : c->device_count;
	char buf[512];

	if (number < c->device_count)
		return &c->devices[number];
	for (size_t i = 0; i < c->device_count; i++)
		if (!strcasecmp(c->devices[i].gpu.device, asked))
			return &c->devices[i];
	dl_log("--device '%s': there is no such GPU here, %s", safe(buf, asked),
	       c->device_count ? "'davylamp exec --explain' lists them" : "nor any other");
	if (c->vulkan_why[0])
		dl_log("Vulkan's could not be listed: %s", c->vulkan_why);
	return NULL;
}

static int read_device(struct dl_exec_case *c)
{
	struct dl_policy_subject *s = &c->question.subject;

	find_devices(c);
	c->device = c->options.device ? asked_for(c)
				      : dl_host_device_usual(c->devices, c->device_count);
	if (!c->device && c->options.device)
		return DL_EXIT_NOTHING;
	for (size_t i = 0; i < c->device_count; i++) {
		struct dl_policy_subject other = { 0 };

		dl_host_device_subject(&c->devices[i], &other);
		dl_host_device_memory(&c->devices[i], &other);
	}
	if (c->device)
		dl_host_device_subject(c->device, s);
	return DL_EXIT_DONE;
}

static void read_learned(struct dl_exec_case *c)
{
	struct dl_choice_question *q = &c->question;
	int line, err = dl_learned_load(c->options.state_dir, &c->learned, &line);

	if (err) {
		dl_log("policy '%s/%s': %s in line %d; starting as if nothing was learned",
		       c->options.state_dir, DL_LEARNED_NAME, strerror(-err), line);
		return;
	}
	for (int i = DL_BACKEND_VULKAN; i < DL_BACKEND_COUNT; i++) {
		enum dl_backend backend = (enum dl_backend)i;
		const struct dl_learned_entry *e =
			dl_learned_against(&c->learned, backend, q->subject.model, q->now_s);

		if (!e) /* the agent goes by what it sees of the process */
			e = dl_learned_against(&c->learned, backend, c->own_model, q->now_s);
		if (e)
			q->breaker[i] =
				(struct dl_choice_breaker){ e->until_s, e->device, e->because };
	}
}

static void add_life(void *arg, const struct dl_ledger_row *row)
{
	uint64_t *lived_s = arg;

	if (row->key.backend != DL_BACKEND_CPU && *lived_s < INT64_MAX)
		*lived_s += row->entry.survived_s;
}

/* How long it has lived on a GPU like that; a ledger that cannot be read knows nobody. */
static void read_ledger(struct dl_exec_case *c)
{
	struct dl_choice_question *q = &c->question;
	const struct dl_ledger_filter filter = { .device = q->subject.device,
						 .model = q->subject.model };
	struct dl_db *db = NULL;

	if (!q->subject.model[0] || dl_db_open(c->options.state_dir, DL_DB_THERE, &db))
		return;
	dl_ledger_each(db, &filter, add_life, &q->lived_s);
	dl_db_close(db);
}

/* Without a choice a model is spread over all cards; over no integrated GPU beside them. */
static uint64_t free_of_all(const struct dl_exec_case *c)
{
	uint64_t sum = 0;

	if (!c->device)
		return DL_FIT_UNKNOWN;
	if (c->options.device || c->device->shared)
		return c->device->free_bytes;
	for (size_t i = 0; i < c->device_count; i++) {
		const struct dl_host_device *d = &c->devices[i];

		if (d->shared)
			continue;
		if (d->free_bytes == DL_FIT_UNKNOWN || d->free_bytes > INT64_MAX)
			return DL_FIT_UNKNOWN;
		sum += d->free_bytes;
	}
	return sum;
}

static void read_memory(struct dl_exec_case *c)
{
	struct dl_fit_question *fit = &c->question.fit;
	struct dl_ev_memory host = { 0 };

	dl_host_memory_read(&host);
	fit->host_free = host.host_total ? host.host_available : DL_FIT_UNKNOWN;
	fit->memory_max = c->options.memory_max;
	fit->device_free = free_of_all(c);
	fit->shared = c->device && c->device->shared;
	dl_exec_model(c);
}

static void read_wish(struct dl_exec_case *c)
{
	struct dl_choice_question *q = &c->question;
	enum dl_backend own = c->launch.facts.backend;

	q->want = c->options.want;
	q->wanted = c->options.backend;
	q->prefer_gpu = c->options.prefer_gpu;
	q->gpu_only = c->options.gpu_only;
	q->can = dl_engine_backends(c->launch.facts.engine);
	if (q->want != DL_WANT_AUTO || own == DL_BACKEND_UNKNOWN)
		return;
	q->want = DL_WANT_COMMAND;
	q->wanted = own;
}

int dl_exec_gather(struct dl_exec_case *c)
{
	struct dl_choice_question *q = &c->question;
	const struct dl_engine_facts *f = &c->launch.facts;
	int status;

	if (f->engine == DL_ENGINE_NONE || !dl_exec_layers_read(&c->options, &c->layers))
		dl_policy_layers_init(&c->layers);
	q->set = &c->set;
	c->set = dl_policy_set_of(&c->layers);
	q->now_s = time(NULL);
	q->subject.engine = f->engine;
	q->subject.context = f->context_size;
	q->subject.available = dl_engine_parts(f->engine, c->launch.argv[0]);
	dl_copy_name(q->subject.model, sizeof(q->subject.model), f->model);
	status = read_device(c);
	if (status)
		return status;
	read_wish(c);
	read_learned(c);
	read_ledger(c);
	read_memory(c);
	return DL_EXIT_DONE;
}

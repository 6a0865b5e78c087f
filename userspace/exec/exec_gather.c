/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engines/wrapper.h"
#include "lib/text.h"
#include "sensors/proc/engine_parts.h"
#include "sensors/gpu/host_memory.h"
#include "store/ledger.h"
#include "exec/exec_case.h"
#include "verb/verb.h"

/* Sanitizes untrusted text. */
static const char *exec_gather_safe(char buf[512], const char *text)
{
	return davy_text_safe(buf, 512, text);
}

/*
 * Skips Vulkan enumeration for the CPU: it loads drivers and is slow. For a program that is no
 * engine, devices matter only if --device names one.
 */
static void find_devices(struct davy_exec_case *c)
{
	const char *visible = getenv("GGML_VK_VISIBLE_DEVICES");
	bool engine = c->launch.facts.engine != DAVY_ENGINE_NONE;
	json_t *answer = NULL;

	if (c->options.backend != DAVY_BACKEND_CPU && (engine || c->options.device))
		answer = davy_host_vulkan(c->vulkan_why);
	c->device_count = davy_host_devices(answer, visible, c->devices, DAVY_HOST_DEVICES_MAX);
	json_decref(answer);
}

static bool is_number(const char *text)
{
	return text[strspn(text, "0123456789")] == 0;
}

/* Finds --device: a PCI address, or a number in the list. */
static struct davy_host_device *exec_gather_asked_for(struct davy_exec_case *c)
{
	const char *asked = c->options.device;
	unsigned long number = is_number(asked) ? strtoul(asked, NULL, 10) : c->device_count;
	char buf[512];

	if (number < c->device_count)
		return &c->devices[number];
	for (size_t i = 0; i < c->device_count; i++)
		if (!strcasecmp(c->devices[i].gpu.device, asked))
			return &c->devices[i];
	davy_log("--device '%s': no such GPU; %s", exec_gather_safe(buf, asked),
		 c->device_count ? "'davylamp exec --explain' lists the GPUs"
				 : "this host has none");
	if (c->vulkan_why[0])
		davy_log("Vulkan's devices could not be listed: %s", c->vulkan_why);
	return NULL;
}

static int exec_gather_read_device(struct davy_exec_case *c)
{
	struct davy_policy_subject *s = &c->question.subject;

	find_devices(c);
	c->device = c->options.device ? exec_gather_asked_for(c)
				      : davy_host_device_usual(c->devices, c->device_count);
	if (!c->device && c->options.device)
		return DAVY_EXIT_NOTHING;
	for (size_t i = 0; i < c->device_count; i++) {
		struct davy_policy_subject other = { 0 };

		davy_host_device_subject(&c->devices[i], &other);
		davy_host_device_memory(&c->devices[i], &other);
	}
	if (c->device)
		davy_host_device_subject(c->device, s);
	return DAVY_EXIT_DONE;
}

static void read_learned(struct davy_exec_case *c)
{
	struct davy_choice_question *q = &c->question;
	int line, err = davy_learned_load(c->options.state_dir, &c->learned, &line);

	if (err) {
		davy_log("policy '%s/%s', line %d: %s; starting without learned rules",
			 c->options.state_dir, DAVY_LEARNED_NAME, line, strerror(-err));
		return;
	}
	for (int i = DAVY_BACKEND_VULKAN; i < DAVY_BACKEND_COUNT; i++) {
		enum davy_backend backend = (enum davy_backend)i;
		const struct davy_learned_entry *e =
			davy_learned_against(&c->learned, backend, q->subject.model, q->now_s);

		if (!e) /* the agent will identify the process */
			e = davy_learned_against(&c->learned, backend, c->own_model, q->now_s);
		if (e)
			q->breaker[i] =
				(struct davy_choice_breaker){ e->until_s, e->device, e->reason };
	}
}

static void add_life(void *arg, const struct davy_ledger_row *row)
{
	uint64_t *lived_s = arg;

	if (row->key.backend != DAVY_BACKEND_CPU && *lived_s < INT64_MAX)
		*lived_s += row->entry.survived_s;
}

/* Time that the model survived on such a GPU; 0 if the ledger cannot be read. */
static void read_ledger(struct davy_exec_case *c)
{
	struct davy_choice_question *q = &c->question;
	const struct davy_ledger_filter filter = { .device = q->subject.device,
						   .model = q->subject.model };
	struct davy_db *db = NULL;

	if (!q->subject.model[0] || davy_db_open(c->options.state_dir, DAVY_DB_THERE, &db))
		return;
	davy_ledger_each(db, &filter, add_life, &q->lived_s);
	davy_db_close(db);
}

/* By default engines spread a model over all discrete GPUs, or use the integrated one. */
static uint64_t free_of_all(const struct davy_exec_case *c)
{
	uint64_t sum = 0;

	if (!c->device)
		return DAVY_FIT_UNKNOWN;
	if (c->options.device || c->device->shared)
		return c->device->free_bytes;
	for (size_t i = 0; i < c->device_count; i++) {
		const struct davy_host_device *d = &c->devices[i];

		if (d->shared)
			continue;
		if (d->free_bytes == DAVY_FIT_UNKNOWN || d->free_bytes > INT64_MAX)
			return DAVY_FIT_UNKNOWN;
		sum += d->free_bytes;
	}
	return sum;
}

static void read_memory(struct davy_exec_case *c)
{
	struct davy_fit_question *fit = &c->question.fit;
	struct davy_ev_memory host = { 0 };

	davy_host_memory_read(&host);
	fit->host_free = host.host_total ? host.host_available : DAVY_FIT_UNKNOWN;
	fit->memory_max = c->options.memory_max;
	fit->vram_max = c->options.vram_max;
	fit->device_free = free_of_all(c);
	fit->shared = c->device && c->device->shared;
	davy_exec_model(c);
}

static void read_override(struct davy_exec_case *c)
{
	struct davy_choice_question *q = &c->question;
	enum davy_backend own = c->launch.facts.backend;

	q->want = c->options.want;
	q->wanted = c->options.backend;
	q->prefer_gpu = c->options.prefer_gpu;
	q->gpu_only = c->options.gpu_only;
	q->can = davy_engine_backends(c->launch.facts.engine);
	if (q->want != DAVY_WANT_AUTO || own == DAVY_BACKEND_UNKNOWN)
		return;
	q->want = DAVY_WANT_COMMAND;
	q->wanted = own;
}

const char *davy_exec_path(const struct davy_exec_case *c, const char *path, char buf[PATH_MAX])
{
	struct davy_wrapped own;

	davy_wrapped_of(c->options.command, &own);
	if (!own.root || path[0] != '/')
		return path;
	return snprintf(buf, PATH_MAX, "%s%s", own.root, path) < PATH_MAX ? buf : path;
}

/* The backends beside the program; without a path, the PATH in another root is unknown. */
static uint32_t exec_gather_parts(const struct davy_exec_case *c)
{
	struct davy_wrapped own;
	char path[PATH_MAX];

	davy_wrapped_of(c->options.command, &own);
	if (own.root && own.argv[0][0] != '/')
		return 0;
	return davy_engine_parts(c->launch.facts.engine, davy_exec_path(c, own.argv[0], path));
}

int davy_exec_gather(struct davy_exec_case *c)
{
	struct davy_choice_question *q = &c->question;
	const struct davy_engine_facts *f = &c->launch.facts;
	int status;

	if (f->engine == DAVY_ENGINE_NONE || !davy_exec_layers_read(&c->options, &c->layers))
		davy_policy_layers_init(&c->layers);
	q->set = &c->set;
	c->set = davy_policy_set_of(&c->layers);
	q->now_s = time(NULL);
	q->subject.engine = f->engine;
	q->subject.context = f->context_size;
	q->subject.available = exec_gather_parts(c);
	davy_copy_name(q->subject.model, sizeof(q->subject.model), f->model);
	status = exec_gather_read_device(c);
	if (status)
		return status;
	read_override(c);
	read_learned(c);
	read_ledger(c);
	read_memory(c);
	return DAVY_EXIT_DONE;
}

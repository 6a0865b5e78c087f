/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's device discovery, as Ollama and users run it: llama-server --list-devices, once for
 * each backend, with only its libraries or with the other backends' devices hidden. It runs traced
 * in the probe's sandbox as the service's user.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "doctor/read.h"
#include "doctor/traced.h"

#define COMMAND_MAX 256
#define CHANGES_MAX 8

static const struct {
	enum davy_backend backend;
	const char *prefix; /* of an output line: "  ROCm0: ..." */
	const char *hide;   /* variable that hides its devices */
	const char *hidden; /* and its value */
} rows[] = {
	{ DAVY_BACKEND_ROCM, "ROCm", "HIP_VISIBLE_DEVICES", "-1" },
	{ DAVY_BACKEND_CUDA, "CUDA", "CUDA_VISIBLE_DEVICES", "-1" },
	{ DAVY_BACKEND_SYCL, "SYCL", "ZE_AFFINITY_MASK", "-1" },
	{ DAVY_BACKEND_VULKAN, "Vulkan", "GGML_VK_VISIBLE_DEVICES", "" },
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* The service's environment with changes. */
struct changed {
	char *envp[DAVY_WHO_ENV_MAX + CHANGES_MAX + 1];
	char text[CHANGES_MAX][4 * DAVY_DOCTOR_PATH];
	size_t count;
};

static void runs_set(struct changed *c, const char *name, const char *value)
{
	size_t len = strlen(name), i = 0;

	if (c->count == CHANGES_MAX)
		return;
	snprintf(c->text[c->count], sizeof(c->text[0]), "%s=%s", name, value);
	while (c->envp[i] && (strncmp(c->envp[i], name, len) != 0 || c->envp[i][len] != '='))
		i++;
	if (!c->envp[i])
		c->envp[i + 1] = NULL;
	c->envp[i] = c->text[c->count++];
}

static void runs_begin(struct changed *c, const struct davy_who *who)
{
	memcpy(c->envp, who->envp, sizeof(who->envp));
	c->count = 0;
	/* Avoids a warning: the sandbox has no folder for shaders. */
	runs_set(c, "MESA_SHADER_CACHE_DISABLE", "true");
}

/*
 * Ollama has a folder for each backend; the loader is pointed to it. If all backends are in the
 * program's folder, the devices of the others are hidden.
 */
static void choose_backend(struct changed *c, const struct davy_doctor_facts *facts,
			   const struct davy_who *who, size_t row)
{
	const char *own = davy_who_variable(who, "LD_LIBRARY_PATH");
	const char *library = facts->engine.library[rows[row].backend];
	const char *runner = facts->engine.runner;
	char value[3 * DAVY_DOCTOR_PATH];

	if (facts->engine.engine == DAVY_ENGINE_OLLAMA && library[0]) {
		snprintf(value, sizeof(value), "%.*s:%.*s%s%.200s",
			 (int)(strrchr(library, '/') - library), library,
			 (int)(strrchr(runner, '/') - runner), runner, own ? ":" : "",
			 own ? own : "");
		runs_set(c, "LD_LIBRARY_PATH", value);
		runs_set(c, "GGML_BACKEND_PATH", library);
		return;
	}
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (i != row && facts->engine.backends & 1u << rows[i].backend)
			runs_set(c, rows[i].hide, rows[i].hidden);
}

/* Lines such as "  ROCm0: AMD Radeon (16368 MiB, 16000 MiB free)". */
static void runs_take_devices(struct davy_doctor_run *r, const char *text, const char *prefix)
{
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *name = at + strspn(at, " \t");
		size_t len = strlen(prefix), used = strlen(r->devices);
		char line[DAVY_DOCTOR_PATH];

		if (strncmp(name, prefix, len) != 0 || !isdigit((unsigned char)name[len]))
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(name, "\n"), name);
		if (!strstr(r->devices, line)) /* a device may be listed twice */
			snprintf(r->devices + used, sizeof(r->devices) - used, "%s%s",
				 used ? ", " : "", line);
	}
}

static bool tells_trouble(const char *line, size_t len)
{
	static const char words[] = "error fail cannot undefined terminate what() abort fault "
				    "HSA_STATUS assert";
	char text[DAVY_DOCTOR_PATH], word[16];

	snprintf(text, sizeof(text), "%.*s", (int)len, line);
	for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ') {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, " "), at);
		if (strcasestr(text, word))
			return true;
	}
	return false;
}

/* Takes the last line with an error, else the last line. */
static void runs_take_words(struct davy_doctor_run *r, const char *text)
{
	bool trouble = false;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t len = strcspn(at, "\n"), blank = strspn(at, " \t\r");
		bool tells = tells_trouble(at, len);

		if (blank >= len || (trouble && !tells))
			continue;
		trouble = tells;
		snprintf(r->words, sizeof(r->words), "%.*s", (int)(len - blank), at + blank);
	}
}

static void take_end(struct davy_doctor_run *r, const struct davy_spawned *s,
		     const struct davy_traced *t, bool listed)
{
	r->ms = s->end.ms;
	r->by_child = t->by_child;
	davy_copy_name(r->where, sizeof(r->where), t->where);
	if (s->end.timed_out) {
		r->end = DAVY_END_HUNG;
	} else if (s->end.signal || (t->signal && !r->devices[0])) {
		r->end = DAVY_END_SIGNAL;
		r->code = s->end.signal ? s->end.signal : t->signal;
		r->by_child = !s->end.signal;
	} else if (s->end.exit) {
		r->end = DAVY_END_EXIT;
		r->code = s->end.exit;
	} else {
		r->end = listed && !r->devices[0] ? DAVY_END_NONE : DAVY_END_GOOD;
	}
	if (r->end != DAVY_END_SIGNAL)
		r->where[0] = 0;
}

static void take_stage(struct davy_doctor_run *r, const struct davy_traced *t)
{
	static const enum davy_backend likely[] = { DAVY_BACKEND_ROCM, DAVY_BACKEND_CUDA,
						    DAVY_BACKEND_SYCL, DAVY_BACKEND_VULKAN };
	uint32_t bit, any = t->loaded | t->runtime;

	for (size_t i = 0; !r->backend && i < sizeof(likely) / sizeof(likely[0]); i++)
		if (any & 1u << likely[i])
			r->backend = likely[i];
	bit = 1u << r->backend;
	r->stage = r->end == DAVY_END_GOOD ? DAVY_STAGE_DONE
		   : t->mapped & bit	   ? DAVY_STAGE_MEMORY
		   : t->opened & bit	   ? DAVY_STAGE_DEVICE
		   : t->runtime & bit	   ? DAVY_STAGE_INIT
		   : t->loaded & bit	   ? DAVY_STAGE_LOAD
					   : DAVY_STAGE_EXEC;
}

/* davylamp-probe runner [--uid ...] -- COMMAND */
static bool make_command(const struct davy_who *who, char *const *command, char *argv[COMMAND_MAX],
			 char numbers[2][16])
{
	size_t n = 0;

	argv[n++] = (char *)"davylamp-probe";
	argv[n++] = (char *)"runner";
	if (!who->service->uid) {
		snprintf(numbers[0], 16, "%u", who->service->uid);
		snprintf(numbers[1], 16, "%u", who->service->gid);
		argv[n++] = (char *)"--uid";
		argv[n++] = numbers[0];
		argv[n++] = (char *)"--gid";
		argv[n++] = numbers[1];
	}
	argv[n++] = (char *)"--";
	for (size_t i = 0; command[i]; i++) {
		if (n == COMMAND_MAX - 1)
			return false;
		argv[n++] = command[i];
	}
	argv[n] = NULL;
	return true;
}

static void runs_run(struct davy_doctor_run *r, const struct davy_spawn *spawn, const char *prefix)
{
	struct davy_spawned *s = malloc(sizeof(*s));
	struct davy_traced traced = { 0 };
	int err = s ? davy_spawn_start(spawn, s) : -ENOMEM;

	if (err) {
		snprintf(r->words, sizeof(r->words), "%s", strerror(-err));
		free(s);
		return;
	}
	davy_traced_run(s, &traced);
	if (prefix)
		runs_take_devices(r, s->noise_text, prefix);
	runs_take_words(r, s->noise_text);
	take_end(r, s, &traced, prefix != NULL);
	take_stage(r, &traced);
	davy_spawn_done(s);
	free(s);
}

static void run_one(struct davy_doctor_facts *facts, const struct davy_who *who,
		    const char *program, char *const *command, char *const *envp, uint32_t limit_ms,
		    enum davy_backend backend, const char *prefix)
{
	struct davy_doctor_run *r = &facts->run[facts->run_count++];
	char *argv[COMMAND_MAX], numbers[2][16], what[64];
	const struct davy_spawn spawn = { .who = who,
					  .program = program,
					  .argv = argv,
					  .envp = envp,
					  .what = what,
					  .limit_ms = limit_ms,
					  .starts_blocked = true,
					  .joined = true };
	const char *why;

	memset(r, 0, sizeof(*r));
	r->backend = backend;
	snprintf(what, sizeof(what), "the engine's device discovery (%s)",
		 davy_doctor_backend_title(backend));
	if (!program)
		davy_copy_name(r->words, sizeof(r->words),
			       "davylamp-probe is not in the directory of davylamp");
	else if (!davy_who_may_run(who, &why))
		davy_copy_name(r->words, sizeof(r->words), why);
	else if (!make_command(who, command, argv, numbers))
		davy_copy_name(r->words, sizeof(r->words), "the command has too many arguments");
	else
		runs_run(r, &spawn, prefix);
}

static uint32_t wanted_backends(const struct davy_doctor_facts *facts)
{
	uint32_t backends = 0;

	for (size_t i = 0; i < facts->gpu_count; i++)
		backends |= davy_doctor_backends_of(facts->gpu[i].subject.vendor);
	return backends & facts->engine.backends;
}

void davy_read_runs(struct davy_doctor_facts *facts, const struct davy_who *who,
		    const char *program, char *const *command, uint32_t limit_ms)
{
	char *list[] = { facts->engine.runner, (char *)"--list-devices", NULL };
	struct changed *c = malloc(sizeof(*c));
	uint32_t wanted = wanted_backends(facts);

	if (c && command) {
		runs_begin(c, who);
		run_one(facts, who, program, command, c->envp, limit_ms, DAVY_BACKEND_UNKNOWN,
			NULL);
	}
	for (size_t i = 0; c && !command && facts->engine.runner[0] && i < ROW_COUNT; i++) {
		if (!(wanted & 1u << rows[i].backend))
			continue;
		runs_begin(c, who);
		choose_backend(c, facts, who, i);
		run_one(facts, who, program, list, c->envp, limit_ms, rows[i].backend,
			rows[i].prefix);
	}
	free(c);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 'davylamp policy explain': which backend and settings an engine and a model get on a device, and
 * from which line of which file. The device is a GPU of this host, or one described by options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host_subject.h"
#include "engines/engine.h"
#include "lib/message.h"
#include "store/config_value.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "store/policy_words.h"
#include "policy_cli/policy_explain.h"
#include "policy_cli/policy_workload.h"
#include "verb/verb.h"

static const char usage[] =
	"usage: davylamp policy explain WORKLOAD [--json] [--socket PATH]\n"
	"       davylamp policy explain [--engine E] [--model M] [--device D] [OPTIONS]\n"
	"\n"
	"With WORKLOAD (number, pid, unit or engine, as shown by 'davylamp status'):\n"
	"prints the settings of a running engine, its mode, and each value of the policy\n"
	"with layer, file, line, rule, reason and source. A value of the agent's rules\n"
	"also has its version and evidence. Needs root and a running agent.\n"
	"\n"
	"Without WORKLOAD: prints the backends and settings that an engine and a model\n"
	"would get on each GPU of this host, or on that of --device. Each value has its\n"
	"layer, file, line, reason, source and date. Needs no agent. The options from\n"
	"--driver to --lockup describe a GPU that need not exist; the GPUs of this host\n"
	"are then ignored. Without WORKLOAD and options: prints all running workloads, or\n"
	"each GPU if none runs.\n"
	"\n"
	"  --engine E             ollama, llama-server, ...\n"
	"  --model M              name of the model in the engine\n"
	"  --device D             PCI address of a GPU of this host\n"
	"  --backend B            current or requested one: vulkan, rocm, cuda, sycl, cpu\n"
	"  --force                use --backend even if the rules exclude it\n"
	"  --available B,...      backends that the engine has (default: all)\n"
	"  --context N            requested context in tokens\n"
	"  --known yes|no         whether the model ran here before, or rules name it\n"
	"\n"
	"  --driver NAME          amdgpu, i915, xe, nvidia, ...\n"
	"  --vendor V             amd, intel or nvidia (default: that of the driver)\n"
	"  --kind K               igpu or dgpu\n"
	"  --pci ID               vendor and device: 1002:744c\n"
	"  --gfx NAME             gfx906, ...\n"
	"  --generation G         of Intel: gen9, gen11, gen12, xe-hpg, xe-lpg, xe2\n"
	"  --compute-units N\n"
	"  --firmware TEXT        such as 'mes 0x83'\n"
	"  --kernel RELEASE       as printed by uname -r\n"
	"  --lockup T             lockup timeout of the backend's queue: '2 s'\n"
	"\n"
	"  --policies DIR         shipped rules (" DAVY_DATA_DIR "/policies)\n"
	"  --config DIR           the administrator's rules (/etc/davylamp)\n"
	"  --state DIR            the agent's rules (/var/lib/davylamp)\n"
	"  --socket PATH          the agent's socket (/run/davylamp/agent.sock)\n"
	"  --json                 one JSON object for each GPU or engine\n"
	"  -h, --help             print this text\n";

static bool say_wrong(const char *option, const char *text, const struct davy_policy_wrong *wrong)
{
	davy_log("--%s %s: %s", option, text, wrong->why);
	return false;
}

/* Takes one name; a rule may have a pattern here. */
static bool policy_explain_take_name(struct davy_policy_subject *s, bool engine, const char *option,
				     const char *text)
{
	int backend = engine ? 0 : davy_backend_from_name(text);

	for (int i = 1; engine && i < DAVY_ENGINE_COUNT; i++)
		if (davy_same_name(text, davy_engine_name((enum davy_engine)i)))
			s->engine = (enum davy_engine)i;
	if (backend > 0)
		s->backend = (enum davy_backend)backend;
	if (engine ? s->engine != DAVY_ENGINE_NONE : backend > 0)
		return true;
	davy_log("--%s %s: expected a name, not a pattern", option, text);
	return false;
}

static bool policy_explain_take_text(struct davy_policy_subject *s, enum davy_condition condition,
				     const char *text)
{
	const struct {
		enum davy_condition condition;
		char *at;
		size_t size;
	} rows[] = {
		{ DAVY_IF_VENDOR, s->vendor, sizeof(s->vendor) },
		{ DAVY_IF_KIND, s->kind, sizeof(s->kind) },
		{ DAVY_IF_GFX, s->gfx, sizeof(s->gfx) },
		{ DAVY_IF_GENERATION, s->generation, sizeof(s->generation) },
		{ DAVY_IF_FIRMWARE, s->firmware, sizeof(s->firmware) },
		{ DAVY_IF_PCI, s->pci, sizeof(s->pci) },
		{ DAVY_IF_KERNEL, s->kernel, sizeof(s->kernel) },
		{ DAVY_IF_MODEL, s->model, sizeof(s->model) },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].condition == condition)
			davy_copy_name(rows[i].at, rows[i].size, text);
	return true;
}

/* An option takes the same values as the condition of a rule. */
static bool take_fact(struct davy_explain_options *o, enum davy_condition condition,
		      const char *option, const char *text)
{
	struct davy_policy_subject *s = &o->subject;
	struct davy_policy_wrong wrong;
	uint64_t number;

	if (condition == DAVY_IF_MODEL)
		return policy_explain_take_text(s, condition, text);
	if (!davy_policy_condition_read(condition, text, &number, &wrong))
		return say_wrong(option, text, &wrong);
	switch (condition) {
	case DAVY_IF_ENGINE:
	case DAVY_IF_BACKEND:
		return policy_explain_take_name(s, condition == DAVY_IF_ENGINE, option, text);
	case DAVY_IF_DEVICE:
		o->device = text;
		return true;
	case DAVY_IF_DRIVER:
		davy_subject_driver(s, text);
		return true;
	case DAVY_IF_COMPUTE_UNITS_BELOW:
		s->compute_units = (uint32_t)number;
		return true;
	case DAVY_IF_CONTEXT_ABOVE:
		s->context = (uint32_t)number;
		return true;
	case DAVY_IF_LOCKUP_BELOW:
		for (int i = DAVY_BACKEND_VULKAN; i < DAVY_BACKEND_COUNT; i++)
			s->lockup_ns[i] = number;
		return true;
	case DAVY_IF_KNOWN:
		s->known = davy_pattern_fits(text, "yes") ? DAVY_KNOWN_YES : DAVY_KNOWN_NO;
		return true;
	default:
		return policy_explain_take_text(s, condition, text);
	}
}

static bool take_available(void *arg, const char *text)
{
	struct davy_explain_options *o = arg;
	enum davy_backend list[DAVY_BACKEND_COUNT];
	struct davy_policy_wrong wrong;
	uint32_t packed;
	size_t count;

	if (!davy_policy_value_read(DAVY_POLICY_BACKENDS, text, &packed, &wrong))
		return say_wrong("available", text, &wrong);
	count = davy_backends_unpack(packed, list);
	for (size_t i = 0; i < count; i++)
		o->subject.available |= 1u << list[i];
	o->asked = true;
	return true;
}

static bool explain_take_fact(void *arg, const char *text)
{
	const struct davy_explain_fact *f = arg;

	f->of->asked = true;
	f->of->described |= f->of_gpu;
	return take_fact(f->of, f->condition, f->option, text);
}

static void explain(const struct davy_explain_options *o, const struct davy_policy_layers *layers,
		    const struct davy_policy_subject *subject)
{
	struct davy_policy_set set = davy_policy_set_of(layers);
	struct davy_effective *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	davy_policy_effective(&set, subject, e);
	if (o->json)
		davy_policy_print_json(subject, e);
	else
		davy_policy_print(subject, e);
	free(e);
}

static void explain_gpu(const struct davy_explain_options *o,
			const struct davy_policy_layers *layers, const struct davy_gpu *gpu)
{
	struct davy_policy_subject subject = o->subject;

	davy_host_subject_read(gpu, &subject);
	explain(o, layers, &subject);
}

static int explain_host(const struct davy_explain_options *o,
			const struct davy_policy_layers *layers)
{
	struct davy_gpu gpus[DAVY_GPUS_MAX];
	size_t count = davy_gpus_list(gpus, DAVY_GPUS_MAX), found = 0;

	for (size_t i = 0; i < count; i++) {
		if (o->device && !davy_same_name(o->device, gpus[i].device))
			continue;
		explain_gpu(o, layers, &gpus[i]);
		found++;
	}
	if (found)
		return DAVY_EXIT_DONE;
	if (o->device)
		davy_log("this host has no GPU '%s'; describe one with --driver etc.", o->device);
	else
		davy_log("this host has no GPU; describe one with --driver etc.");
	return DAVY_EXIT_NOTHING;
}

struct davy_policy_layers *davy_policy_explain_rules(const struct davy_explain_options *o)
{
	struct davy_policy_layers *layers = malloc(sizeof(*layers));
	char error[DAVY_CONFIG_ERROR_LEN];
	int err;

	if (!layers)
		return NULL;
	davy_policy_layers_init(layers);
	err = davy_policy_dirs_read(o->data_dir ? o->data_dir : DAVY_DATA_DIR "/policies",
				    o->state_dir ? o->state_dir : DAVY_STATE_DIR,
				    o->config_dir ? o->config_dir : DAVY_CONFIG_DIR, layers, error);
	if (!err && error[0])
		davy_log("%s; the agent's rules are ignored", error);
	if (!err)
		return layers;
	davy_log("%s", error[0] ? error : strerror(-err));
	free(layers);
	return NULL;
}

static int policy_explain_run(const struct davy_explain_options *o)
{
	struct davy_policy_layers *layers = davy_policy_explain_rules(o);
	int status = DAVY_EXIT_DONE;

	if (!layers)
		return DAVY_EXIT_FAILED;
	if (o->described)
		explain(o, layers, &o->subject);
	else
		status = explain_host(o, layers);
	free(layers);
	return status;
}

static int policy_explain_judge(struct davy_explain_options *o, char *const *words, int count)
{
	const struct davy_policy_running running = { o->socket_path, count ? words[0] : NULL, true,
						     o->json };
	const char *wrong = NULL;

	o->asked |= o->subject.forced || o->data_dir || o->config_dir || o->state_dir;
	if (count > 1 || (count && o->asked))
		wrong = "'policy explain' takes either WORKLOAD or options that describe an engine "
			"and a GPU";
	else if (o->subject.forced && !o->subject.backend)
		wrong = "--force needs --backend";
	if (wrong) {
		davy_log("%s", wrong);
		return DAVY_EXIT_USAGE;
	}
	if (count)
		return davy_policy_running(&running);
	if (!o->asked && davy_policy_running_all(&running))
		return DAVY_EXIT_DONE;
	return policy_explain_run(o);
}

#define ANY_GPU 6 /* so many of them, the first, are about what runs on it */

static const struct {
	const char *option;
	enum davy_condition condition;
} facts[DAVY_EXPLAIN_FACTS] = {
	{ "engine", DAVY_IF_ENGINE },
	{ "model", DAVY_IF_MODEL },
	{ "device", DAVY_IF_DEVICE },
	{ "backend", DAVY_IF_BACKEND },
	{ "context", DAVY_IF_CONTEXT_ABOVE },
	{ "known", DAVY_IF_KNOWN },
	{ "driver", DAVY_IF_DRIVER },
	{ "vendor", DAVY_IF_VENDOR },
	{ "kind", DAVY_IF_KIND },
	{ "pci", DAVY_IF_PCI },
	{ "gfx", DAVY_IF_GFX },
	{ "generation", DAVY_IF_GENERATION },
	{ "compute-units", DAVY_IF_COMPUTE_UNITS_BELOW },
	{ "firmware", DAVY_IF_FIRMWARE },
	{ "kernel", DAVY_IF_KERNEL },
	{ "lockup", DAVY_IF_LOCKUP_BELOW },
};

void davy_policy_explain_table(struct davy_explain_options *o, struct davy_option *ret_options)
{
	struct davy_option *at = ret_options;

	for (size_t i = 0; i < DAVY_EXPLAIN_FACTS; i++) {
		o->facts[i] = (struct davy_explain_fact){ facts[i].option, facts[i].condition,
							  i >= ANY_GPU, o };
		*at++ = (struct davy_option){ facts[i].option, .take = explain_take_fact,
					      .arg = &o->facts[i] };
	}
	*at++ = (struct davy_option){ "force", .flag = &o->subject.forced };
	*at++ = (struct davy_option){ "available", .take = take_available, .arg = o };
	*at++ = (struct davy_option){ "policies", .text = &o->data_dir };
	*at++ = (struct davy_option){ "config", .text = &o->config_dir };
	*at++ = (struct davy_option){ "state", .text = &o->state_dir };
	*at++ = (struct davy_option){ "socket", .text = &o->socket_path };
	*at++ = (struct davy_option){ "json", .flag = &o->json };
	*at = (struct davy_option){ 0 };
}

int davy_policy_explain(int argc, char **argv)
{
	struct davy_explain_options o = { .socket_path = DAVY_SOCKET_DEFAULT };
	struct davy_option options[DAVY_OPTIONS_MAX + 1];
	int first;

	davy_policy_explain_table(&o, options);
	first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	return first <= 0 ? -first : policy_explain_judge(&o, argv + first, argc - first);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy write': rules as configuration of an engine that davylamp does not start. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host_subject.h"
#include "lib/text.h"
#include "store/learned.h"
#include "policy_cli/model_list.h"
#include "policy_cli/policy_explain.h"
#include "policy_cli/policy_write.h"
#include "verb/verb.h"

static const char usage[] =
	"usage: davylamp policy write FORMAT [--out FILE] [--model M]... [OPTIONS]\n"
	"\n"
	"Writes the rules for an engine on a GPU of this host as configuration of another\n"
	"program. Writes to stdout, or to a file, which is replaced atomically. The first\n"
	"line names davylamp and a version. A file that davylamp did not write is never\n"
	"overwritten. One that was changed by hand is kept as FILE.hand. Rules that the\n"
	"format cannot express are listed on stderr.\n"
	"\n"
	"  env            environment file of a unit that runs --engine (llama-server)\n"
	"  router-preset  a section for each model, for llama-server --models-preset;\n"
	"                 default: the models that rules name, or one section for all\n"
	"  ollama         a Modelfile with the parameters of one model\n"
	"  llama-swap     the models of its configuration, with command and environment\n"
	"  lemonade       default settings, for LEMONADE_DEFAULTS_PATH\n"
	"  compose        an override file for a service of Docker Compose\n"
	"  quadlet        a drop-in for a container of Podman's quadlet\n"
	"  k8s            a patch for a workload of Kubernetes\n"
	"\n"
	"  --out FILE             output file; exit status 4 if its content is the same\n"
	"  --model M              a name, or the absolute path of a file; may be repeated\n"
	"  --models-dir DIR       all models of a folder\n"
	"  --server PROGRAM       program that llama-swap starts (llama-server)\n"
	"  --engine E             for env and containers: ollama, llama-server, ...\n"
	"  --container NAME       service of Compose, or container (default: the engine)\n"
	"  --device D             PCI address of a GPU of this host; default: the first\n"
	"                         discrete one\n"
	"  --available B,...      backends that the engine has; the preferred one is\n"
	"                         written (default: only cpu can be written)\n"
	"  --context N            requested context in tokens\n"
	"\n"
	"  --driver, --vendor, --kind, --pci, --gfx, --generation, --compute-units,\n"
	"  --firmware, --kernel, --lockup, --backend, --force, --known: describe a GPU\n"
	"                         that need not exist, as for 'davylamp policy explain'\n"
	"  --policies DIR         shipped rules (" DAVY_DATA_DIR "/policies)\n"
	"  --config DIR           the administrator's rules (/etc/davylamp)\n"
	"  --state DIR            the agent's rules (/var/lib/davylamp)\n"
	"  --json                 one JSON object: the result, and the rules not written\n"
	"  -h, --help             print this text\n";

struct write_options {
	struct davy_explain_options d;
	const struct davy_output_format *format;
	const char *out; /* NULL: stdout */
	const char *server, *container;
	struct davy_model_list models;
};

static bool find_gpu(struct davy_explain_options *d)
{
	struct davy_gpu gpus[DAVY_GPUS_MAX];
	size_t count = davy_gpus_list(gpus, DAVY_GPUS_MAX);

	for (size_t i = 0; i < count; i++) {
		if (!davy_same_name(d->device, gpus[i].device))
			continue;
		davy_host_subject_read(&gpus[i], &d->subject);
		return true;
	}
	davy_log("this host has no GPU '%s'; describe one with --driver and the other options",
		 d->device);
	return false;
}

static json_t *policy_write_notes(const struct davy_output_result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->note_count; i++)
		json_array_append_new(list, json_string(r->note[i]));
	return list;
}

static void policy_write_print_json(const struct write_options *o,
				    const struct davy_output_result *r, json_t *of)
{
	json_object_set_new(of, "format", json_string(o->format->name));
	json_object_set_new(of, "models", json_integer((json_int_t)o->models.count));
	json_object_set_new(of, "not_written", policy_write_notes(r));
	json_dumpf(of, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(of);
}

static void say_notes(const struct davy_output_result *r)
{
	for (size_t i = 0; i < r->note_count; i++)
		davy_log("not written: %s", r->note[i]);
}

static int policy_write_print_text(const struct write_options *o,
				   const struct davy_output_result *r)
{
	char *text;
	int err = davy_generated_text_as(o->format->style, 1, r->body, &text);

	if (err) {
		davy_log("%s: %s", o->format->name, strerror(-err));
		return DAVY_EXIT_FAILED;
	}
	if (o->d.json) {
		policy_write_print_json(o, r, json_pack("{s:s}", "text", text));
	} else {
		say_notes(r);
		fputs(text, stdout);
	}
	free(text);
	return ferror(stdout) ? DAVY_EXIT_FAILED : DAVY_EXIT_DONE;
}

static void tell_file(const struct write_options *o, const struct davy_output_result *r, int done,
		      uint32_t version)
{
	char safe[4096];
	json_t *of;

	davy_text_safe(safe, sizeof(safe), o->out);
	if (!o->d.json) {
		say_notes(r);
		printf(done == -EALREADY ? "%s is unchanged, version %u\n"
					 : "%s: version %u is written\n",
		       safe, version);
		if (done > 0)
			printf("  manual changes are kept as %s.hand\n", safe);
		return;
	}
	of = json_pack("{s:s, s:b, s:I}", "file", safe, "written", done != -EALREADY, "version",
		       (json_int_t)version);
	if (done > 0)
		json_object_set_new(of, "kept", json_sprintf("%s.hand", safe));
	policy_write_print_json(o, r, of);
}

static int write_file(const struct write_options *o, const struct davy_output_result *r)
{
	uint32_t version = 0;
	int done = davy_generated_renew(o->out, o->format->style, r->body, &version);

	if (done == -EEXIST) {
		davy_log("'%s' was not written by davylamp: nothing is changed; move it away, or "
			 "name another file",
			 o->out);
		return DAVY_EXIT_FAILED;
	}
	if (done < 0 && done != -EALREADY) {
		davy_log("'%s': %s", o->out, strerror(-done));
		return DAVY_EXIT_FAILED;
	}
	tell_file(o, r, done, version);
	return done == -EALREADY ? DAVY_EXIT_NOTHING : DAVY_EXIT_DONE;
}

static int policy_write_make(struct write_options *o, const struct davy_policy_layers *layers)
{
	const struct davy_policy_set set = davy_policy_set_of(layers);
	struct davy_output_request request = { .set = set,
					       .subject = o->d.subject,
					       .engine = o->d.subject.engine,
					       .server = o->server,
					       .container = o->container };
	struct davy_output_result *result = calloc(1, sizeof(*result));
	int err, status;

	if (!result)
		return DAVY_EXIT_FAILED;
	if (!o->models.count && o->format == &davy_output_router_preset)
		davy_model_list_rules(&o->models, &set);
	request.models = o->models.at;
	request.model_count = o->models.count;
	err = davy_output_make(o->format, &request, result);
	if (err)
		davy_log("%s: %s", o->format->name, err == -EINVAL ? result->why : strerror(-err));
	if (err)
		status = DAVY_EXIT_FAILED;
	else
		status = o->out ? write_file(o, result) : policy_write_print_text(o, result);
	free(result->body);
	free(result);
	return status;
}

static int policy_write_run(struct write_options *o)
{
	struct davy_policy_layers *layers;
	int status;

	if (!o->d.described && o->d.device && !find_gpu(&o->d))
		return DAVY_EXIT_NOTHING;
	if (!o->d.described && !o->d.device)
		davy_host_subject_choose(&o->d.subject);
	layers = davy_policy_explain_rules(&o->d);
	status = layers ? policy_write_make(o, layers) : DAVY_EXIT_FAILED;
	free(layers);
	return status;
}

static bool take_models(struct write_options *o, const char *text, bool dir)
{
	int err = dir	    ? davy_model_list_dir(&o->models, text)
		  : text[0] ? davy_model_list_add(&o->models, text)
			    : -EINVAL;

	if (err == -E2BIG)
		davy_log("more than %d models", DAVY_MODEL_LIST_MAX);
	else if (err)
		davy_log("--model%s '%s': %s", dir ? "s-dir" : "", text, strerror(-err));
	return !err;
}

static bool take_model(void *o, const char *text)
{
	return take_models(o, text, false);
}

static bool take_models_dir(void *o, const char *text)
{
	return take_models(o, text, true);
}

/* The exit status to end with, unless *ret_run is set. */
static int policy_write_parse(struct write_options *o, int argc, char **argv, bool *ret_run)
{
	struct davy_option options[5 + DAVY_EXPLAIN_TABLE] = {
		{ "model", .take = take_model, .arg = o }, /* before the other of that name */
		{ "models-dir", .take = take_models_dir, .arg = o },
		{ "out", .text = &o->out },
		{ "server", .text = &o->server },
		{ "container", .text = &o->container },
	};
	int first;

	davy_policy_explain_table(&o->d, options + 5);
	first = davy_options_read(argc, argv, DAVY_OPTIONS_ANYWHERE, usage, options);
	if (first <= 0)
		return -first;
	if (o->out && !strcmp(o->out, "-"))
		o->out = NULL;
	o->format = first + 1 == argc ? davy_output_format_named(argv[first]) : NULL;
	*ret_run = o->format && (!o->d.subject.forced || o->d.subject.backend);
	if (*ret_run)
		return DAVY_EXIT_DONE;
	davy_log("%s", o->format
			       ? "--force needs --backend"
			       : "expected a format: 'davylamp policy write env', 'router-preset', "
				 "'ollama', 'llama-swap', 'lemonade', 'compose', 'quadlet' or "
				 "'k8s'");
	return DAVY_EXIT_USAGE;
}

int davy_policy_write(int argc, char **argv)
{
	struct write_options *o = calloc(1, sizeof(*o));
	bool run = false;
	int status;

	if (!o)
		return DAVY_EXIT_FAILED;
	o->d.socket_path = DAVY_SOCKET_DEFAULT;
	o->server = "llama-server";
	status = policy_write_parse(o, argc, argv, &run);
	if (run)
		status = policy_write_run(o);
	davy_model_list_done(&o->models);
	free(o);
	return status;
}

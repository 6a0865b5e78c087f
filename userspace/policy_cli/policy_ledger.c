/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp policy ledger': survival and failures of each setting that a model ran with. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "lib/text.h"
#include "sensors/gpu/driver_version.h"
#include "sensors/gpu/firmware.h"
#include "store/ledger.h"
#include "policy_cli/policy_history.h"
#include "verb/verb.h"
#include "verb/when.h"

#define NS_PER_MS 1000000

/*
 * Weight of the row for this host and the row's device. The engine's build, and what only the agent
 * reads from a driver, count as unknown.
 */
static uint32_t weight_now(const struct davy_ledger_row *row)
{
	struct davy_ledger_environment now = { .kernel = "" };
	struct davy_gpu gpus[DAVY_GPUS_MAX];
	size_t count = davy_gpus_list(gpus, DAVY_GPUS_MAX);
	struct utsname name;

	if (!uname(&name))
		davy_copy_name(now.kernel, sizeof(now.kernel), name.release);
	for (size_t i = 0; i < count; i++) {
		if (!davy_same_name(gpus[i].device, row->key.device))
			continue;
		davy_driver_version_read(gpus[i].driver, now.driver);
		if (!davy_firmware_waits(&gpus[i]))
			davy_firmware_read(&gpus[i], now.firmware);
	}
	return davy_ledger_weight(&row->key.environment, &now);
}

static void put_count(char *buf, size_t size, uint32_t count, const char *none)
{
	if (count)
		snprintf(buf, size, "%" PRIu32, count);
	else
		snprintf(buf, size, "%s", none);
}

static void print_faults(const struct davy_ledger_entry *e)
{
	for (uint32_t i = 0; i < DAVY_CLASS_COUNT; i++)
		if (e->faults[i])
			printf("; %" PRIu32 " %s", e->faults[i], davy_log_class_name(i));
}

/* "    under 6.12.0; amdgpu 6.8.5; mes 0x83; llama-server, build 1" */
static void print_versions(const struct davy_ledger_environment *e)
{
	const char *const texts[] = { e->kernel, e->driver, e->firmware, e->engine };
	char safe[4 * DAVY_LEDGER_VERSION];
	size_t reported = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i][0])
			printf("%s%s", reported++ ? "; " : "    under ",
			       davy_text_shown(safe, sizeof(safe), texts[i]));
	if (reported)
		putchar('\n');
}

static void print_row(void *arg, const struct davy_ledger_row *row)
{
	uint32_t weight = weight_now(row);
	const struct davy_ledger_key *k = &row->key;
	const struct davy_ledger_entry *e = &row->entry;
	char model[4 * DAVY_MODEL_LEN], device[4 * DAVY_DEVICE_LEN], when[32], ubatch[16],
		context[16];

	(void)arg;
	put_count(ubatch, sizeof(ubatch), k->ubatch, "the engine's");
	put_count(context, sizeof(context), k->context, "the engine's");
	printf("%s on %s, %s: ubatch %s, context %s\n",
	       davy_text_shown(model, sizeof(model), k->model), davy_backend_name(k->backend),
	       k->device[0] ? davy_text_shown(device, sizeof(device), k->device) : "any device",
	       ubatch, context);
	printf("    %" PRIu64 ".%" PRIu64 " h without failure, context depth %" PRIu32 " tokens",
	       e->survived_s / 3600, e->survived_s % 3600 / 360, e->deepest);
	if (e->failed_depth)
		printf("; failed at %" PRIu32, e->failed_depth);
	print_faults(e);
	if (e->slowest_job_ns)
		printf("; slowest job %" PRIu64 " ms", e->slowest_job_ns / NS_PER_MS);
	printf("; seen last %s", davy_when(e->last_s, when, sizeof(when)));
	if (weight < DAVY_LEDGER_WEIGHT)
		printf("; other versions, weight %" PRIu32 " %%",
		       weight * 100 / DAVY_LEDGER_WEIGHT);
	putchar('\n');
	print_versions(&k->environment);
}

static json_t *faults_of(const struct davy_ledger_entry *e)
{
	json_t *faults = json_object();

	for (uint32_t i = 0; i < DAVY_CLASS_COUNT; i++)
		if (e->faults[i])
			json_object_set_new(faults, davy_log_class_name(i),
					    json_integer(e->faults[i]));
	return faults;
}

static void print_row_json(void *arg, const struct davy_ledger_row *row)
{
	const struct davy_ledger_key *k = &row->key;
	const struct davy_ledger_entry *e = &row->entry;
	json_t *o = json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:s, s:s, s:s, s:s, s:I, s:I}",
		"model", k->model, "device", k->device, "backend", davy_backend_name(k->backend),
		"ubatch", (json_int_t)k->ubatch, "context", (json_int_t)k->context, "survived_s",
		(json_int_t)e->survived_s, "deepest", (json_int_t)e->deepest, "failed_depth",
		(json_int_t)e->failed_depth, "slowest_job_ns", (json_int_t)e->slowest_job_ns,
		"faults", faults_of(e), "kernel", k->environment.kernel, "driver",
		k->environment.driver, "firmware", k->environment.firmware, "engine",
		k->environment.engine, "last_s", (json_int_t)e->last_s, "weight_permille",
		(json_int_t)weight_now(row));

	(void)arg;
	if (o)
		json_dumpf(o, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(o);
}

int davy_policy_ledger(const struct davy_history_options *o)
{
	struct davy_ledger_filter filter = { .device = o->device, .model = o->model };
	struct davy_db *db = NULL;
	int rows = 0, err = davy_db_open(o->state_dir, DAVY_DB_THERE, &db);

	if (!err)
		rows = davy_ledger_each(db, &filter, o->json ? print_row_json : print_row, NULL);
	davy_db_close(db);
	if (err == -ENOENT)
		err = 0;
	if (err || rows < 0) {
		davy_log("ledger '%s/%s': %s", o->state_dir, DAVY_DB_NAME,
			 davy_db_why(err ? err : rows));
		return err == -EACCES ? DAVY_EXIT_NOT_PERMITTED : DAVY_EXIT_FAILED;
	}
	if (!rows && !o->json)
		printf("the ledger is empty: no adopted engine has run under the agent\n");
	return DAVY_EXIT_DONE;
}

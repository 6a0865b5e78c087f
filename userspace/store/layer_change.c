/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/layer_change.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "lib/text.h"
#include "store/layer_text.h"
#include "store/ledger.h"
#include "store/policy_file.h"
#include "store/versions.h"

static int say_database(const char *dir, int err, char *why)
{
	snprintf(why, DAVY_LAYER_WHY, "database '%.300s/%s': %s", dir, DAVY_DB_NAME,
		 davy_db_why(err));
	return err;
}

static int say_layer(const char *dir, int err, char *why)
{
	if (err < 0)
		snprintf(why, DAVY_LAYER_WHY, "policy layer '%.300s/%s': %s; it stays unchanged",
			 dir, DAVY_POLICY_NAME, davy_db_why(err));
	return err;
}

int davy_layer_rollback(const char *dir, uint32_t number, char why[DAVY_LAYER_WHY])
{
	struct davy_db *db = NULL;
	int err = davy_db_open(dir, DAVY_DB_THERE, &db);

	if (err == -ENOENT && !number)
		return 0; /* no layer was ever written */
	if (err && err != -ENOENT)
		return say_database(dir, err, why);
	if (!err)
		err = davy_version_rollback(db, number);
	davy_db_close(db);
	if (err != -ENOENT)
		return say_layer(dir, err, why);
	snprintf(why, DAVY_LAYER_WHY,
		 "there is no version %u in '%.300s'; 'davylamp policy history' "
		 "lists them",
		 number, dir);
	return err;
}

_Static_assert(DAVY_LAYER_ERROR_LEN >= DAVY_CONFIG_ERROR_LEN, "one error for both");

static int judge_rules(const char *name, const char *text, size_t size,
		       char error[DAVY_LAYER_ERROR_LEN])
{
	struct davy_policy_layer *layer = malloc(sizeof(*layer));
	int err = -ENOMEM;

	if (layer)
		err = davy_policy_text_read(text, size, name, DAVY_LAYER_AGENT, layer, error);
	else
		snprintf(error, DAVY_LAYER_ERROR_LEN, "%.200s: %s", name, strerror(ENOMEM));
	free(layer);
	return err;
}

int davy_layer_import(const char *dir, const char *name, const char *text, size_t size,
		      char why[DAVY_LAYER_WHY])
{
	char reason[DAVY_VERSION_REASON], error[DAVY_LAYER_ERROR_LEN] = "", safe[256];
	struct davy_db *db = NULL;
	const char *body;
	int err = davy_layer_text_take(name, text, size, judge_rules, &body, error);

	if (err) {
		snprintf(why, DAVY_LAYER_WHY, "%s", error);
		return err;
	}
	err = davy_db_open(dir, DAVY_DB_MAKE, &db);
	if (err)
		return say_database(dir, err, why);
	snprintf(reason, sizeof(reason), "imported from %s",
		 davy_text_safe(safe, sizeof(safe), name));
	err = davy_version_add(db, reason, "", body);
	davy_db_close(db);
	return say_layer(dir, err, why);
}

static void say_forgotten(const char *device, const char *model, char reason[DAVY_VERSION_REASON])
{
	char safe[2][4 * DAVY_MODEL_LEN];

	davy_text_shown(safe[0], sizeof(safe[0]), model);
	davy_text_shown(safe[1], sizeof(safe[1]), device);
	if (!model[0] && !device[0])
		snprintf(reason, DAVY_VERSION_REASON, "every model and device forgotten");
	else
		snprintf(reason, DAVY_VERSION_REASON, "%s%.200s%s%s%.60s forgotten",
			 model[0] ? "'" : "", safe[0], model[0] ? "'" : "",
			 model[0] && device[0] ? " on " : "", safe[1]);
}

static int write_rest(struct davy_db *db, const struct davy_policy_layer *layer, const char *device,
		      const char *model, char *why)
{
	char reason[DAVY_VERSION_REASON], error[DAVY_CONFIG_ERROR_LEN] = "", *text = NULL;
	size_t size;
	int err = davy_policy_text_write(layer, &text, &size, error);

	if (err)
		snprintf(why, DAVY_LAYER_WHY, "%s", error[0] ? error : strerror(-err));
	say_forgotten(device, model, reason);
	if (!err)
		err = davy_version_add(db, reason, "", text);
	free(text);
	return err;
}

/* Rules that this version cannot read are not judged: they stay, and are reported as invalid. */
static int forget_rules(struct davy_db *db, const char *dir, const char *device, const char *model,
			struct davy_layer_forgotten *f, char *why)
{
	struct davy_policy_layer *layer = malloc(sizeof(*layer));
	char error[DAVY_CONFIG_ERROR_LEN] = "", path[PATH_MAX];
	int err = layer ? davy_root_path(path, sizeof(path), "%s/%s", dir, DAVY_POLICY_NAME)
			: -ENOMEM;

	if (!err)
		err = davy_policy_file_read(path, DAVY_LAYER_AGENT, layer, error);
	if (err == -EBADMSG)
		snprintf(why, DAVY_LAYER_WHY, "%s; 'davylamp policy rollback' has an older one",
			 error);
	if (!err) {
		f->rule_count = (int)davy_policy_rules_forget(layer, device, model);
		if (f->rule_count)
			err = write_rest(db, layer, device, model, why);
		f->version = err > 0 ? err : 0;
	}
	free(layer);
	if (err < 0)
		f->rule_count = 0;
	return err == -ENOENT || err > 0 ? 0 : err;
}

int davy_layer_forget(const char *dir, const char *device, const char *model,
		      struct davy_layer_forgotten *ret_forgotten, char why[DAVY_LAYER_WHY])
{
	struct davy_layer_forgotten f = { 0 };
	struct davy_db *db = NULL;
	int err = davy_db_open(dir, DAVY_DB_THERE, &db);

	*ret_forgotten = f;
	if (err == -ENOENT)
		return 0; /* nothing was ever stored */
	if (err)
		return say_database(dir, err, why);
	why[0] = 0;
	err = forget_rules(db, dir, device, model, &f, why);
	if (err && !why[0])
		say_layer(dir, err, why);
	if (!err) {
		err = davy_ledger_forget(db, device, model);
		f.row_count = err > 0 ? err : 0;
		if (err < 0)
			say_database(dir, err, why);
	}
	davy_db_close(db);
	*ret_forgotten = f;
	return err < 0 ? err : 0;
}

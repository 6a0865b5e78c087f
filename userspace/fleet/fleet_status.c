/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp fleet status' and 'import': files of this host, without etcd. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/fleet.h"
#include "fleet/keeper.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/message.h"
#include "lib/text.h"
#include "store/policy_file.h"
#include "verb/client.h"

#define OLD_S 60 /* the service writes it every 10 s */

json_t *davy_fleet_status_read(const char *state_dir, const char **ret_why)
{
	char path[PATH_MAX], *text = malloc(DAVY_KEEPER_TEXT_MAX + 1);
	json_t *status = NULL;
	ssize_t n = -ENOMEM;

	if (text && snprintf(path, sizeof(path), "%s/" DAVY_FLEET_NAME "/" DAVY_FLEET_STATUS,
			     state_dir) < (int)sizeof(path))
		n = davy_read_whole(path, text, DAVY_KEEPER_TEXT_MAX + 1);
	*ret_why = n < 0 ? strerror((int)-n) : "it is no JSON object";
	if (n >= 0)
		status = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (json_is_object(status))
		return status;
	json_decref(status);
	return NULL;
}

static const char *status_text(const json_t *o, const char *key, char *buf, size_t size)
{
	return davy_text_shown(buf, size, davy_message_text(o, key));
}

static void status_print_rule(const json_t *r)
{
	char value[160], model[80], backend[40], device[96], engine[160], reason[400], state[80];

	printf("  %s: %s on %s of %s with model %s\n      %s\n      of %s\n",
	       status_text(r, "state", state, sizeof(state)),
	       status_text(r, "value", value, sizeof(value)),
	       status_text(r, "backend", backend, sizeof(backend)),
	       status_text(r, "device", device, sizeof(device)),
	       status_text(r, "model", model, sizeof(model)),
	       status_text(r, "reason", reason, sizeof(reason)),
	       status_text(r, "engine", engine, sizeof(engine)));
}

static void status_print(const json_t *s)
{
	const json_t *rules = json_object_get(s, "rules"), *r;
	const long long age = (long long)time(NULL) - davy_message_number(s, "at_s", 0);
	char where[300], why[300], host[120];
	size_t i;

	status_text(s, "endpoint", where, sizeof(where));
	if (age > OLD_S)
		printf("service   has not reported for %lld s; is davylamp-fleet.service "
		       "running?\n",
		       age);
	if (json_is_true(json_object_get(s, "connected")))
		printf("etcd      %s, revision %lld, %lld hosts\n", where,
		       (long long)davy_message_number(s, "revision", 0),
		       (long long)davy_message_number(s, "hosts", 0));
	else
		printf("etcd      %s is not reachable: %s; the rules stay in force\n", where,
		       status_text(s, "why", why, sizeof(why)));
	if (davy_message_number(s, "rolled_back_s", 0))
		printf("          the store was rolled back %lld s ago\n",
		       (long long)time(NULL) -
			       (long long)davy_message_number(s, "rolled_back_s", 0));
	printf("host      %s\n", status_text(s, "host", host, sizeof(host)));
	printf("evidence  %lld rows of this host; %lld with failures of all hosts, %lld refused, "
	       "%lld older than before\n",
	       (long long)davy_message_number(s, "rows_own", 0),
	       (long long)davy_message_number(s, "rows_failed", 0),
	       (long long)davy_message_number(s, "rows_refused", 0),
	       (long long)davy_message_number(s, "rows_replayed", 0));
	printf("rules     %zu\n", json_array_size(rules));
	json_array_foreach(rules, i, r) status_print_rule(r);
}

int davy_fleet_status(const struct davy_fleet_options *o)
{
	const char *why;
	json_t *s = davy_fleet_status_read(o->state, &why);

	if (!s) {
		davy_log("fleet: '%s/" DAVY_FLEET_NAME "/" DAVY_FLEET_STATUS "': %s; write '%s', "
			 "then 'systemctl start davylamp-fleet'",
			 o->state, why, o->config);
		return DAVY_EXIT_NOTHING;
	}
	if (o->json) {
		json_dumpf(s, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		status_print(s);
	}
	json_decref(s);
	return DAVY_EXIT_DONE;
}

static int import_layer(const struct davy_fleet_options *o, const char *text, size_t size)
{
	struct davy_policy_layer *l = malloc(sizeof(*l));
	char error[DAVY_CONFIG_ERROR_LEN] = "", path[PATH_MAX], dir[PATH_MAX];
	int err = l ? 0 : -ENOMEM;

	if (!err &&
	    (snprintf(dir, sizeof(dir), "%s/" DAVY_FLEET_NAME, o->state) >= (int)sizeof(dir) ||
	     snprintf(path, sizeof(path), "%s/" DAVY_FLEET_NAME "/" DAVY_POLICY_NAME, o->state) >=
		     (int)sizeof(path)))
		err = -ENAMETOOLONG;
	if (!err)
		err = davy_policy_text_read(text, size, "layer", DAVY_LAYER_FLEET, l, error);
	if (!err)
		err = davy_make_dirs(dir);
	if (!err)
		err = davy_replace_file(path, text, size, 0644);
	if (err) {
		davy_log("fleet: '%s' cannot be imported: %s; nothing has changed", o->file,
			 error[0] ? error : strerror(-err));
	} else {
		printf("%u rules imported into '%s'\n", l->rule_count, path);
		if (davy_client_find(o->socket) == DAVY_EXIT_DONE)
			printf("'davylamp policy reload' makes the running agent use them\n");
	}
	free(l);
	return !err ? DAVY_EXIT_DONE : err == -EBADMSG ? DAVY_EXIT_USAGE : DAVY_EXIT_FAILED;
}

int davy_fleet_import(const struct davy_fleet_options *o)
{
	const size_t size = 4 * DAVY_KEEPER_TEXT_MAX;
	char *text = malloc(size), safe[256];
	ssize_t n = text ? davy_read_whole(o->file, text, size) : -ENOMEM;
	json_t *doc = n < 0 ? NULL : json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *layer = json_object_get(doc, "layer");
	int status = DAVY_EXIT_USAGE;

	davy_text_safe(safe, sizeof(safe), o->file);
	if (n < 0)
		davy_log("fleet: '%s': %s", safe, strerror((int)-n));
	else if (!json_is_string(layer))
		davy_log("fleet: '%s' is no file of 'davylamp fleet export'", safe);
	else
		status = import_layer(o, json_string_value(layer), json_string_length(layer));
	json_decref(doc);
	free(text);
	return status;
}

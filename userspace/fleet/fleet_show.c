/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 'davylamp fleet status' and 'import': files of this host, without etcd. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fleet/fleet.h"
#include "fleet/fleet_rules.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/message.h"
#include "lib/text.h"
#include "store/policy_file.h"
#include "verb/client.h"
#include "verb/fleet_status.h"

#define OLD_S 60 /* the service writes it every 10 s */

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
	char error[DAVY_CONFIG_ERROR_LEN], safe[256];
	int count = davy_fleet_layer_write(o->state, text, size, error);

	davy_text_safe(safe, sizeof(safe), o->file);
	if (count < 0) {
		davy_log("fleet: '%s' cannot be imported: %s; nothing has changed", safe, error);
		return count == -EBADMSG ? DAVY_EXIT_USAGE : DAVY_EXIT_FAILED;
	}
	printf("%d rules imported into '%s/" DAVY_FLEET_NAME "'\n", count, o->state);
	if (davy_client_find(o->socket) == DAVY_EXIT_DONE)
		printf("'davylamp policy reload' makes the running agent use them\n");
	return DAVY_EXIT_DONE;
}

int davy_fleet_import(const struct davy_fleet_options *o)
{
	const size_t size = 4 * DAVY_FLEET_STATUS_MAX;
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

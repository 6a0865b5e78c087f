/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What etcd answers: a range of keys and values of other hosts, and the rules that follow. */
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_rules.h"
#include "fleet/etcd.h"
#include "store/policy_file.h"

static void read_layer(const struct davy_fleet_rule *rule, size_t count)
{
	static struct davy_policy_layer layer;
	bool taken[DAVY_FLEET_RULES_MAX];
	char error[DAVY_CONFIG_ERROR_LEN], *text;

	memset(taken, true, sizeof(taken));
	text = davy_fleet_rules_text(rule, taken, count, 1000, 1);
	if (!text ||
	    davy_policy_text_read(text, strlen(text), "f", DAVY_LAYER_FLEET, &layer, error))
		abort(); /* whatever hosts say, the rules are in the form of the layer */
	for (uint32_t i = 0; i < layer.rule_count; i++)
		for (size_t j = 0; j < layer.rule[i].value_count; j++)
			if (!davy_fleet_may(layer.rule[i].value[j].key))
				abort();
	free(text);
}

static void judge(const struct davy_fleet_table *t)
{
	static struct davy_fleet_rule rule[DAVY_FLEET_RULES_MAX];
	const struct davy_fleet_device device = { "1002:744c", "amdgpu 6.12" };
	struct davy_judge_question q = { .host = "me",
					 .quorum = 1,
					 .share = 1,
					 .device = &device,
					 .device_count = 1,
					 .failed = t,
					 .lived = t,
					 .lived_scale = 250 };
	size_t count = davy_fleet_judge(&q, rule);

	if (count > DAVY_FLEET_RULES_MAX)
		abort();
	read_layer(rule, count);
	q.quorum = (uint32_t)t->count + 1;
	if (davy_fleet_judge(&q, rule))
		abort(); /* fewer hosts than the quorum */
}

static const char *kv_host(const json_t *kv)
{
	const char *host = json_string_value(json_object_get(kv, "key"));

	return host ? host : "";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char key[DAVY_ETCD_KEY_MAX], host[DAVY_FLEET_HOST_LEN], id[DAVY_FLEET_ID_LEN],
		value[DAVY_FLEET_VALUE_MAX + 1];
	json_t *answer = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL), *kv;
	struct davy_fleet_table t = { .count = 0 };
	struct davy_fleet_row row;
	size_t i;

	json_array_foreach(json_object_get(answer, "kvs"), i, kv)
	{
		const json_t *text = json_object_get(kv, "value");
		ssize_t n = davy_etcd_text(text, value, sizeof(value));

		/* base64 and the id are hard to guess: also a plain host and object */
		if (davy_fleet_row_take(text, kv_host(kv), &row))
			davy_fleet_put(&t, &row);
		if (n >= 0 && davy_etcd_text(json_object_get(kv, "key"), key, sizeof(key)) >= 0 &&
		    davy_fleet_key_read(key, "/d/", "fail", host, id) &&
		    davy_fleet_row_read(host, id, value, (size_t)n, &row))
			davy_fleet_put(&t, &row);
	}
	davy_etcd_number(answer, "count", 0);
	judge(&t);
	davy_fleet_clear(&t);
	json_decref(answer);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of davylamp-fleet as samples. No label has a host, a model or a text of others. */
#include <string.h>

#include "exporter/metrics.h"
#include "lib/message.h"

#define OLD_S 60

static json_int_t fleet_metrics_rules(const json_t *status, const char *state)
{
	const json_t *rule;
	json_int_t count = 0;
	size_t i;

	json_array_foreach(json_object_get(status, "rules"), i, rule) count +=
		!strcmp(davy_message_text(rule, "state"), state);
	return count;
}

void davy_metrics_of_fleet(struct davy_metrics *m, const json_t *status, int64_t now_s)
{
	static const struct {
		const char *key;
		enum davy_metric metric;
	} numbers[] = {
		{ "hosts", DAVY_METRIC_FLEET_HOSTS },
		{ "rows_failed", DAVY_METRIC_FLEET_ROWS },
		{ "rows_refused", DAVY_METRIC_FLEET_REFUSED },
		{ "rows_replayed", DAVY_METRIC_FLEET_REPLAYED },
		{ "rolled_back_s", DAVY_METRIC_FLEET_ROLLED_BACK },
	};
	/* Of davylamp-fleet, and the same as labels. */
	static const char *const states[][2] = { { "taken", "taken" },
						 { "waiting for the first hosts", "waiting" },
						 { "most hosts disagree", "disagreed" },
						 { "survived here", "contradicted" },
						 { "withdrawn", "withdrawn" } };
	json_int_t at_s = davy_message_number(status, "at_s", 0);

	if (!status)
		return;
	davy_metrics_add(m, DAVY_METRIC_FLEET_CONNECTED,
			 json_is_true(json_object_get(status, "connected")) &&
				 now_s - at_s <= OLD_S,
			 DAVY_LABELS());
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		davy_metrics_add(m, numbers[i].metric,
				 davy_message_number(status, numbers[i].key, -1), DAVY_LABELS());
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		davy_metrics_add(m, DAVY_METRIC_FLEET_RULES,
				 fleet_metrics_rules(status, states[i][0]),
				 DAVY_LABELS("state", states[i][1]));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of samples, and their text for Prometheus. The answer of the agent is untrusted: the number
 * of samples, the characters of a label and the range of a value are limited.
 */
#ifndef DAVY_METRICS_H
#define DAVY_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "exporter/metric_table.h"

#define DAVY_SAMPLES_MAX 2048
#define DAVY_LABELS_LEN	 200 /* all labels of a sample */
#define DAVY_LABEL_MAX	 48  /* characters of a value */

struct davy_sample {
	enum davy_metric metric;
	json_int_t value; /* before it is divided */
	char labels[DAVY_LABELS_LEN];
};

struct davy_metrics {
	size_t count;
	size_t dropped;
	struct davy_sample sample[DAVY_SAMPLES_MAX];
};

/* OpenMetrics 1.0, and Prometheus' text format 0.0.4 for node_exporter and promtool. */
enum davy_metrics_format {
	DAVY_METRICS_OPEN,
	DAVY_METRICS_PLAIN
};

/* Pairs of name and value, at most four; none: DAVY_LABELS(). */
#define DAVY_LABELS(...) ((const char *const[9]){ __VA_ARGS__ })

/*
 * Adds "value" to the sample with these labels. In a label's value, characters that PCI addresses
 * and names of the agent do not have become '_'. Negative values, and those that a double cannot
 * hold, are ignored.
 */
void davy_metrics_add(struct davy_metrics *set, enum davy_metric metric, json_int_t value,
		      const char *const *labels);

/* The same, but the sample has the largest of the values. */
void davy_metrics_max(struct davy_metrics *set, enum davy_metric metric, json_int_t value,
		      const char *const *labels);

/* False: no memory, or an error of the file. */
bool davy_metrics_print(const struct davy_metrics *set, enum davy_metrics_format format, FILE *out);

/*
 * Adds what davylamp-fleet reports in its state file; nothing without one. "now_s": a report that
 * is older than a minute is none of a connected host.
 */
void davy_metrics_of_fleet(struct davy_metrics *set, const json_t *status, int64_t now_s);

/* Fills an empty set from the agent's status; NULL: the agent did not answer. */
void davy_metrics_of_status(struct davy_metrics *set, const json_t *status);

#endif

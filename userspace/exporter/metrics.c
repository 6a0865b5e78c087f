/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exporter/metrics.h"

#include <ctype.h>
#include <string.h>

#define VALUE_MAX (1LL << 53) /* a double holds each smaller integer */

enum metrics_type {
	GAUGE,
	COUNTER,
	INFO
};

/* The type, and the suffix of its samples. OpenMetrics names a family without the suffix. */
static const char *const types[] = { [GAUGE] = "gauge", [COUNTER] = "counter", [INFO] = "info" };
static const char *const suffixes[] = { [GAUGE] = "", [COUNTER] = "_total", [INFO] = "_info" };

#define METRICS_ROW(constant, name, type, unit, divisor, help)                                     \
	[DAVY_METRIC_##constant] = { "davylamp_" #name, type, #unit, divisor, help },

static const struct {
	const char *name;
	enum metrics_type type;
	const char *unit;
	json_int_t divisor; /* a power of ten */
	const char *help;
} families[] = { DAVY_METRICS(METRICS_ROW) };

static bool metrics_is_valid(json_int_t value)
{
	return value >= 0 && value < VALUE_MAX;
}

static void metrics_put_value(char *dst, const char *value)
{
	size_t i;

	for (i = 0; i < DAVY_LABEL_MAX && value[i]; i++)
		dst[i] = isalnum((unsigned char)value[i]) || strchr("_.:-/", value[i]) ? value[i]
										       : '_';
	dst[i] = 0;
}

static void metrics_put_labels(char text[DAVY_LABELS_LEN], const char *const *labels)
{
	char value[DAVY_LABEL_MAX + 1];
	size_t used = 0;

	text[0] = 0;
	for (; labels[0]; labels += 2) {
		int n;

		metrics_put_value(value, labels[1]);
		n = snprintf(text + used, DAVY_LABELS_LEN - used, "%s%s=\"%s\"", used ? "," : "",
			     labels[0], value);
		if (n < 0 || (size_t)n >= DAVY_LABELS_LEN - used) {
			text[used] = 0; /* without the labels that do not fit */
			return;
		}
		used += (size_t)n;
	}
}

/* The sample with these labels, a new one with the value 0; NULL: no room, or invalid value. */
static struct davy_sample *metrics_sample(struct davy_metrics *set, enum davy_metric metric,
					  json_int_t value, const char *const *labels)
{
	char text[DAVY_LABELS_LEN];
	struct davy_sample *s;

	if (!metrics_is_valid(value))
		return NULL;
	metrics_put_labels(text, labels);
	for (size_t i = 0; i < set->count; i++)
		if (set->sample[i].metric == metric && !strcmp(set->sample[i].labels, text))
			return &set->sample[i];
	if (set->count == DAVY_SAMPLES_MAX) {
		set->dropped++;
		return NULL;
	}
	s = &set->sample[set->count++];
	s->metric = metric;
	s->value = 0;
	memcpy(s->labels, text, sizeof(text));
	return s;
}

void davy_metrics_add(struct davy_metrics *set, enum davy_metric metric, json_int_t value,
		      const char *const *labels)
{
	struct davy_sample *s = metrics_sample(set, metric, value, labels);

	if (s && metrics_is_valid(s->value + value))
		s->value += value;
}

void davy_metrics_max(struct davy_metrics *set, enum davy_metric metric, json_int_t value,
		      const char *const *labels)
{
	struct davy_sample *s = metrics_sample(set, metric, value, labels);

	if (s && s->value < value)
		s->value = value;
}

/* "1.5" for 1500 with divisor 1000. */
static void metrics_print_value(json_int_t value, json_int_t divisor, FILE *out)
{
	json_int_t rest = value % divisor;

	fprintf(out, " %lld", (long long)(value / divisor));
	if (rest)
		putc('.', out);
	for (; rest; rest = rest % divisor) {
		divisor /= 10;
		putc('0' + (int)(rest / divisor), out);
	}
	putc('\n', out);
}

static void metrics_print_head(enum davy_metric metric, enum davy_metrics_format format, FILE *out)
{
	const char *name = families[metric].name, *suffix = "",
		   *type = types[families[metric].type];

	if (format == DAVY_METRICS_PLAIN) {
		suffix = suffixes[families[metric].type];
		if (families[metric].type == INFO)
			type = types[GAUGE]; /* the format has no info */
	}
	fprintf(out, "# HELP %s%s %s.\n# TYPE %s%s %s\n", name, suffix, families[metric].help, name,
		suffix, type);
	if (format == DAVY_METRICS_OPEN && families[metric].unit[0])
		fprintf(out, "# UNIT %s %s\n", name, families[metric].unit);
}

/* The samples of a family must follow one another. */
bool davy_metrics_print(const struct davy_metrics *set, enum davy_metrics_format format, FILE *out)
{
	for (enum davy_metric m = 0; m < DAVY_METRIC_COUNT; m++) {
		bool begun = false;

		for (size_t i = 0; i < set->count; i++) {
			const struct davy_sample *s = &set->sample[i];

			if (s->metric != m)
				continue;
			if (!begun)
				metrics_print_head(m, format, out);
			begun = true;
			fprintf(out, s->labels[0] ? "%s%s{%s}" : "%s%s%s", families[m].name,
				suffixes[families[m].type], s->labels);
			metrics_print_value(s->value, families[m].divisor, out);
		}
	}
	if (format == DAVY_METRICS_OPEN)
		fputs("# EOF\n", out);
	return !ferror(out);
}

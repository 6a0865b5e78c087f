/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a trace beside its events: NAME.label.json beside NAME.trace. Outside input:
 * bounded, every field checked. Times are CLOCK_BOOTTIME, ns, as in the trace.
 */
#ifndef DAVY_LABEL_H
#define DAVY_LABEL_H

#include "core/event/log_kind.h"

#define DAVY_SCENARIO_LEN 48

struct davy_label {
	char scenario[DAVY_SCENARIO_LEN]; /* who made it; "" a recorded trace */
	uint64_t seed;
	char device[DAVY_DEVICE_LEN]; /* whose failure it is; "" none */
	uint32_t pid;		      /* 0: nobody's */
	uint32_t class;		      /* enum davy_log_class; DAVY_CLASS_NONE: benign */
	uint64_t begin_ns;
	uint64_t duration_ns;
	uint64_t cause_ns;   /* what ends in the failure begins: nothing could be known before */
	uint64_t sign_ns;    /* it shows: first sign of the failure; lead is measured from here */
	uint64_t failure_ns; /* these three are 0 of a benign trace */
};

/* "benign" or the name of the class. */
const char *davy_label_class_name(uint32_t class);

/* Whether times are in order and names terminated. */
bool davy_label_valid(const struct davy_label *label);

/* "a.trace" to "a.label.json"; -ENAMETOOLONG. */
int davy_label_path(char *path, size_t size, const char *trace_path);

/* 0; -ENOENT; -EBADMSG: "error" says what was expected. */
int davy_label_read(const char *path, struct davy_label *ret_label, char *error, size_t error_size);
int davy_label_write(const char *path, const struct davy_label *label);

#endif

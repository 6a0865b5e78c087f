/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The label of a trace: NAME.label.json beside NAME.trace. Untrusted: bounded, every field is
 * validated. Times are CLOCK_BOOTTIME in ns, as in the trace.
 */
#ifndef DAVY_LABEL_H
#define DAVY_LABEL_H

#include "core/event/log_kind.h"

#define DAVY_SCENARIO_LEN 48

struct davy_label {
	char scenario[DAVY_SCENARIO_LEN]; /* its scenario; "": recorded */
	uint64_t seed;
	char device[DAVY_DEVICE_LEN]; /* the failing device; "": none */
	uint32_t pid;		      /* 0: none */
	uint32_t class;		      /* enum davy_log_class; DAVY_CLASS_NONE: benign */
	uint64_t begin_ns;
	uint64_t duration_ns;
	uint64_t cause_ns;     /* begin of the cause; unpredictable before */
	uint64_t precursor_ns; /* first precursor; lead time is counted from here */
	uint64_t failure_ns;   /* these three are 0 in a benign trace */
};

/* "benign" or the name of the class. */
const char *davy_label_class_name(uint32_t class);

/* Whether times are ascending and names terminated. */
bool davy_label_valid(const struct davy_label *label);

/* "a.trace" to "a.label.json"; -ENAMETOOLONG. */
int davy_label_path(char *path, size_t size, const char *trace_path);

/* 0; -ENOENT; -EBADMSG: "error" has what was expected. */
int davy_label_read(const char *path, struct davy_label *ret_label, char *error, size_t error_size);
int davy_label_write(const char *path, const struct davy_label *label);

#endif

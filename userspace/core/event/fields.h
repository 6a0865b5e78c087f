/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of every kind of event: name, place, limits, and whether JSON shows them. Validation,
 * JSON and the fuzzer's events use these tables. A number without limits that is not shown needs no
 * line. Texts are always terminated.
 */
#ifndef DAVY_FIELDS_H
#define DAVY_FIELDS_H

#include "core/event/event.h"

enum davy_field_type {
	DAVY_FIELD_TEXT = 0,
	DAVY_FIELD_NUMBER = 1,
	DAVY_FIELD_SIGNED = 2,
	DAVY_FIELD_FLAG = 3,
	DAVY_FIELD_NAME = 4, /* a number; "text" has its name */
};

enum davy_field_shown {
	DAVY_FIELD_ALWAYS = 0,
	DAVY_FIELD_IF_SET = 1, /* neither 0 nor "" */
	DAVY_FIELD_NEVER = 2,
};

struct davy_field {
	const char *name;
	enum davy_field_type type;
	uint16_t offset; /* in struct davy_event */
	uint16_t size;	 /* bytes of one element */
	uint16_t more;	 /* elements after the first; 0: no array */
	enum davy_field_shown shown;
	uint32_t mask;			     /* only these bits, as 0 or 1; 0: the whole number */
	uint64_t min;			     /* for a text 1: not empty */
	uint64_t max;			     /* 0: no limits */
	const char *(*text)(uint32_t value); /* of DAVY_FIELD_NAME */
};

struct davy_event_shape {
	const char *name; /* NULL: unknown kind */
	size_t size;	  /* of the payload */
	const struct davy_field *fields;
	size_t field_count;
	bool hidden;				    /* JSON shows no such event */
	bool of_process;			    /* the pid is not 0 */
	bool (*valid)(const struct davy_event *ev); /* for conditions beyond limits; NULL: none */
};

/* For an unknown number: a shape without a name. */
const struct davy_event_shape *davy_event_shape(uint32_t kind);

/* Element "index": of a text, and of any other field. */
const char *davy_field_text(const struct davy_event *ev, const struct davy_field *f, size_t index);
uint64_t davy_field_number(const struct davy_event *ev, const struct davy_field *f, size_t index);

#endif

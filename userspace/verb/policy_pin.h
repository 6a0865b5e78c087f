/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_POLICY_PIN_H
#define DAVY_POLICY_PIN_H

#include <stdbool.h>
#include <stddef.h>

struct davy_pin {
	const char *config_dir;
	const char *model, *device; /* NULL: any */
	char *const *words;	    /* for pin: "KEY=VALUE"; for unpin: the rule's name */
	size_t count;
	bool json;
	const char *reason; /* for pin: the rule's reason; NULL: the default text */
	bool once;	    /* for pin: do nothing if the rule exists */
};

/* Exit statuses; errors are logged. */
int davy_policy_pin(const struct davy_pin *p);
int davy_policy_unpin(const struct davy_pin *p);

#endif

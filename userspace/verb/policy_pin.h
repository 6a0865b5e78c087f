/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAVY_POLICY_PIN_H
#define DAVY_POLICY_PIN_H

#include <stdbool.h>
#include <stddef.h>

struct davy_pin {
	const char *config_dir;
	const char *model, *device; /* NULL: any */
	char *const *words;	    /* of pin: "KEY=VALUE"; of unpin: the rule's name */
	size_t count;
	bool json;
	const char *because; /* of pin; NULL: that people did it */
	bool once;	     /* of pin: not again what is there already */
};

/* Exit statuses; why not has been said. */
int davy_policy_pin(const struct davy_pin *p);
int davy_policy_unpin(const struct davy_pin *p);

#endif

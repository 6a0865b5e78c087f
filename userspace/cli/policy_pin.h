/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DL_VERBS_POLICY_PIN_H
#define DL_VERBS_POLICY_PIN_H

#include <stdbool.h>
#include <stddef.h>

struct dl_pin {
	const char *config_dir;
	const char *model, *device; /* NULL: any */
	char *const *words;	    /* of pin: "KEY=VALUE"; of unpin: the rule's name */
	size_t count;
	bool json;
	const char *because; /* of pin; NULL: that people did it */
	bool once;	     /* of pin: not again what is there already */
};

/* Exit statuses; why not has been said. */
int dl_policy_pin(const struct dl_pin *p);
int dl_policy_unpin(const struct dl_pin *p);

#endif

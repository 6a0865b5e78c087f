/* SPDX-License-Identifier: GPL-2.0-or-later */
/* davylamp-fleet: 'davylamp fleet run', 'status', 'evidence', 'export' and 'import'. */
#ifndef DAVY_FLEET_H
#define DAVY_FLEET_H

#include "fleet/fleet_config.h"

struct davy_fleet_options {
	const char *config, *state, *socket;
	const char *model, *device; /* of evidence */
	const char *file;	    /* of import */
	bool json;
};

/* Each returns an exit status. */
int davy_fleet_run(const struct davy_fleet_options *o);
int davy_fleet_status(const struct davy_fleet_options *o);
int davy_fleet_evidence(const struct davy_fleet_options *o);
int davy_fleet_export(const struct davy_fleet_options *o);
int davy_fleet_import(const struct davy_fleet_options *o);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of adopted services, and the place of a workload. */
#include "agent/agent.h"

#include <string.h>

#include "lib/log.h"
#include "store/db.h"
#include "agent/act/units.h"

struct davy_service *davy_unit_of_workload(struct davy_agent *a, uint32_t workload)
{
	for (size_t i = 0; workload && a->units && i < DAVY_ADOPTED_MAX; i++)
		if (a->units->unit[i].name[0] && a->units->unit[i].workload == workload)
			return &a->units->unit[i];
	return NULL;
}

bool davy_workload_place(struct davy_agent *a, uint32_t workload, struct davy_place *ret_place)
{
	const struct davy_link *link = davy_link_of_workload(a, workload);
	const struct davy_service *u = link ? NULL : davy_unit_of_workload(a, workload);

	if (link)
		*ret_place = (struct davy_place){ link->pid, link->start_ticks, link->cgroup, "" };
	else if (u)
		*ret_place = (struct davy_place){ u->pid, u->start_ticks, u->cgroup, u->name };
	return link || u;
}

struct davy_service *davy_unit_named(struct davy_agent *a, const char *name)
{
	for (size_t i = 0; a->units && i < DAVY_ADOPTED_MAX; i++)
		if (name[0] && !strcmp(a->units->unit[i].name, name))
			return &a->units->unit[i];
	return NULL;
}

struct davy_adopted_unit *davy_unit_adopted(const struct davy_service *u)
{
	return davy_adopted_find(&u->agent->units->adopted, u->name);
}

uint32_t davy_units_workload_of(const struct davy_agent *a, const char *cgroup)
{
	for (size_t i = 0; a->units && i < DAVY_ADOPTED_MAX; i++) {
		const struct davy_service *u = &a->units->unit[i];
		size_t len = strlen(u->cgroup);

		if (u->name[0] && len > 1 && !strncmp(cgroup, u->cgroup, len) &&
		    (!cgroup[len] || cgroup[len] == '/'))
			return u->workload;
	}
	return 0;
}

uint16_t davy_units_port_of(struct davy_agent *a, uint32_t workload, uint16_t port)
{
	const struct davy_service *u = davy_unit_of_workload(a, workload);
	const struct davy_unit_state *s = u ? &u->state : NULL;
	uint16_t here = 0;

	if (!s || !s->own_network)
		return port;
	for (uint32_t i = 0; i < s->port_count; i++)
		if (s->port[i][0] == port)
			return s->port[i][1];
		else if (s->port[i][1] == port) /* already that of this host */
			here = port;
	return here || !s->address[0] || u->unreachable ? here : port;
}

const char *davy_units_image_of(struct davy_agent *a, uint32_t workload)
{
	const struct davy_service *u = workload ? davy_unit_of_workload(a, workload) : NULL;

	return u ? u->state.image : "";
}

const char *davy_unit_host(const struct davy_service *u)
{
	for (uint32_t i = 0; i < u->state.port_count; i++)
		if (u->state.port[i][1] == u->port)
			return "127.0.0.1";
	return u->state.own_network && u->state.address[0] ? u->state.address : "127.0.0.1";
}

struct davy_service *davy_unit_add(struct davy_agent *a, const char *name)
{
	for (size_t i = 0; i < DAVY_ADOPTED_MAX; i++) {
		struct davy_service *u = &a->units->unit[i];

		if (u->name[0] || u->asking)
			continue;
		memset(u, 0, sizeof(*u));
		u->agent = a;
		u->workload = ++a->workload_count;
		davy_copy_name(u->name, sizeof(u->name), name);
		return u;
	}
	return NULL;
}

int davy_units_save(struct davy_agent *a)
{
	int err = a->units->unread;

	if (!err)
		err = davy_adopted_save(a->options.state_dir, &a->units->adopted);
	if (err)
		davy_log("'%s/%s': cannot write the list of adopted units: %s; the change is "
			 "kept in memory and written with the next change",
			 a->options.state_dir, DAVY_DB_NAME, davy_db_why(err));
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's view of KFD (ROCm): what its SMI descriptors say, who uses how much of which GPU. */
#ifndef DAVY_KFD_H
#define DAVY_KFD_H

#include <jansson.h>
#include <systemd/sd-event.h>

#include "sensors/kfd/kfd_opener.h"
#include "sensors/kfd/kfd_reader.h"
#include "sensors/kfd/kfd_topology.h"
#include "sensors/kfd/kfd_use.h"

#define DAVY_KFD_USES_MAX 256

struct davy_agent;

/* A GPU's SMI descriptor. */
struct davy_kfd_watch {
	struct davy_agent *agent;
	struct davy_kfd_reader *reader;
	sd_event_source *source;
	uint32_t gpu_id;
	char device[DAVY_DEVICE_LEN];
};

/* A process on a GPU; gpu_id 0: it has KFD open and nothing on any. */
struct davy_kfd_user {
	uint32_t pid; /* 0: empty */
	uint32_t inner_pid;
	uint32_t round; /* of the last sample that had it */
	bool changed;	/* since it was told */
	char device[DAVY_DEVICE_LEN];
	struct davy_kfd_use use;
};

struct davy_kfd {
	struct davy_kfd_node node[DAVY_KFD_NODES_MAX];
	size_t node_count;
	struct davy_kfd_watch watch[DAVY_KFD_NODES_MAX];
	size_t watch_count;
	struct davy_kfd_opener opener;
	sd_event_source *opener_source;
	uint32_t asked[DAVY_KFD_NODES_MAX]; /* gpu_ids the opener was asked for */
	size_t asked_count;
	uint64_t asked_ns; /* 0: every answer has come */
	bool stay;	   /* so was the opener told */
	int error;	   /* the last answer that was a refusal */
	bool released;	   /* until there are other GPUs than those asked for */
	uint64_t listed_ns;
	uint64_t lost_ns; /* since when nothing is heard that was heard before */
	uint64_t said_count;
	struct davy_ev_sensor state; /* as it was told */
	struct davy_kfd_user user[DAVY_KFD_USES_MAX];
	uint32_t round;
	uint64_t sampled_ns;
};

void davy_agent_kfd_close(struct davy_agent *a);

/* After the GPUs' own tick. */
void davy_agent_kfd_tick(struct davy_agent *a, uint64_t now_ns);

/*
 * The devices changed: they are listed anew on the next tick. "leaving": one goes just now, and its
 * descriptor has to be closed before the driver is done with it.
 */
void davy_agent_kfd_changed(struct davy_agent *a, bool leaving);

/* Lets go of the module, if it is KFD's; how many sensors did. */
int davy_agent_kfd_release(struct davy_agent *a, const char *module);

/* kfd_use.c */
void davy_agent_kfd_sample(struct davy_agent *a, uint64_t now_ns);
/* Whom a line means: the process as the agent sees it, 0 where that is not certain. */
uint32_t davy_agent_kfd_pid(struct davy_agent *a, const struct davy_kfd_said *said);
json_t *davy_agent_kfd_status(const struct davy_agent *a);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's view of KFD (ROCm): events of its SMI descriptors, and the processes' use of each
 * GPU.
 */
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

/* The SMI descriptor of a GPU. */
struct davy_kfd_watch {
	struct davy_agent *agent;
	struct davy_kfd_reader *reader;
	sd_event_source *source;
	uint32_t gpu_id;
	char device[DAVY_DEVICE_LEN];
};

/* A process on a GPU; gpu_id 0: it has KFD open and uses no GPU. */
struct davy_kfd_user {
	uint32_t pid; /* 0: empty */
	uint32_t inner_pid;
	uint32_t round; /* of the last sample that contained it */
	bool changed;	/* since the last report */
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
	uint32_t asked[DAVY_KFD_NODES_MAX]; /* gpu_ids requested from the opener */
	size_t asked_count;
	uint64_t asked_ns; /* 0: all replies have arrived */
	bool stay;	   /* the opener was asked to stay */
	int error;	   /* the last error in a reply */
	bool released;	   /* until the set of GPUs changes */
	uint64_t listed_ns;
	uint64_t lost_ns; /* start of the gap in events */
	uint64_t said_count;
	struct davy_ev_sensor state; /* as reported */
	struct davy_kfd_user user[DAVY_KFD_USES_MAX];
	uint32_t round;
	uint64_t sampled_ns;
};

void davy_agent_kfd_close(struct davy_agent *a);

/* Runs after the tick of the GPUs. */
void davy_agent_kfd_tick(struct davy_agent *a, uint64_t now_ns);

/*
 * Call it when devices change: the next tick lists them again. "leaving": a device is being
 * removed, so its descriptor must be closed before the driver is done with it.
 */
void davy_agent_kfd_changed(struct davy_agent *a, bool leaving);

/* Releases the module if it is KFD's; returns the number of sensors that did. */
int davy_agent_kfd_release(struct davy_agent *a, const char *module);

/* kfd_use.c */
void davy_agent_kfd_sample(struct davy_agent *a, uint64_t now_ns);
/* The pid in the agent's namespace; 0: it is ambiguous or unknown. */
uint32_t davy_agent_kfd_pid(struct davy_agent *a, const struct davy_kfd_said *said);
json_t *davy_agent_kfd_status(const struct davy_agent *a);

#endif

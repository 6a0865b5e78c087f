/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: one event loop that owns the clock. Sensors pass each event to davy_agent_feed() and
 * to no other function: trace, core, plans. The agent reports plans and executes them. Its state is
 * one struct. The functions of a subfolder are declared in headers of that subfolder. Only agent/
 * includes this file; verbs use davy_agent_run().
 */
#ifndef DAVY_AGENT_H
#define DAVY_AGENT_H

#include <jansson.h>
#include <limits.h>
#include <systemd/sd-event.h>

#include "agent/agent_hooks.h"
#include "agent/feed/feed.h"
#include "agent/feed/recent.h"
#include "agent/policy/agent_counts.h"
#include "agent/sense/agent_dmem.h"
#include "agent/sense/agent_gpus.h"
#include "agent/sense/agent_nvml.h"
#include "agent/act/freezes.h"
#include "agent/act/agent_intents.h"
#include "agent/act/vram.h"
#include "agent/sense/kernel_log.h"
#include "agent/sense/kfd.h"
#include "agent/ipc/links.h"
#include "agent/sense/lockups.h"
#include "agent/sense/reader.h"

#include "core/core.h"
#include "lib/writer.h"
#include "sensors/bpf/bpf.h"
#include "sensors/proc/look.h"
#include "sensors/gpu/uevents.h"
#include "store/config_file.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "store/trace.h"

#define DAVY_TRACKED_MAX 512
#define DAVY_WAITING_MAX 32

struct davy_units;

struct davy_agent_options {
	int mode; /* enum davy_mode; -1: as configured */
	bool json;
	const char *record_path; /* NULL: no trace */
	const char *socket_path;
	const char *state_dir;
	const char *config_dir; /* contains the administrator's hazards.conf */
	const char *data_dir;	/* shipped policies */
};

/* A process that the agent knows: what it reported to the core, and when to inspect it again. */
struct davy_tracked {
	uint32_t pid; /* 0: empty */
	uint32_t uid; /* responsible user: davy_process_account() */
	uint32_t uid_reported;
	uint32_t workload;
	uint32_t attempts;
	uint64_t used_ns;
	uint64_t inspect_ns;  /* 0: no inspection is due */
	uint64_t verified_ns; /* last time that pid and start time were verified */
	uint64_t looked_ns;   /* time of the last reply of a reader */
	bool on_gpu;	      /* named by a GPU driver: inspect it even if it is no engine */
	bool opens_gpu;	      /* it has a GPU device open */
	bool has_command;     /* false: in an exec, or exiting */
	uint32_t loaded_backends;
	bool cpu_assumed; /* no GPU use was seen for a long time */
	bool device_used; /* its memory is on this device: the device is certain */
	struct davy_ev_process reported;
	uint64_t ledger_ns; /* the ledger has its survival up to this time; 0: no entry */
	uint64_t slowest_job_ns;
	bool cxx_attached;
	bool ggml_attached;
	bool llama_attached;
	bool engine_known; /* its version was read, or cannot be read */
	uint64_t met_ns;   /* first time that it, or its program, was seen; 0: just now */
	char engine[DAVY_VERSION_TEXT_LEN];
};

/* The part of the core's tuning state of a workload that is in the database. */
struct davy_kept_tuning {
	uint32_t workload; /* 0: empty */
	uint32_t pid;	   /* the process whose environment was reported */
	uint32_t changes;  /* saved changes */
	uint32_t answers;  /* saved replies */
	uint64_t saved_ns;
	bool stamped; /* it was reported completely */
	uint8_t rules_backend;
	uint32_t rules_pid; /* process for which the rules were reported, and their reading */
	uint32_t rules_read;
	char device[DAVY_DEVICE_LEN]; /* key of the database row */
	char model[DAVY_MODEL_LEN];
};

/* A connected client; a supervisor (davylamp exec) has a workload. */
struct davy_link {
	struct davy_agent *agent;
	sd_event_source *source; /* NULL: empty; owns the descriptor */
	int fd;
	uint32_t uid;
	uint32_t messages; /* since the last tick */
	uint64_t heard_ns;
	uint32_t peer_pid;
	uint32_t workload;
	uint32_t pid; /* of the engine */
	uint64_t start_ticks;
	uint64_t vram_max; /* bytes, of davylamp exec --vram-max; 0: none */
	enum davy_engine engine;
	enum davy_role role; /* by its command; UNKNOWN: an older supervisor, or none */
	enum davy_backend backend;
	uint16_t port;
	uint32_t act_plan; /* an order was sent, its end is not reported yet */
	bool awaits;	   /* its engine has exited, it waits for a decision */
	bool verifying;	   /* the new engine was reported, its first token is pending */
	bool verified;	   /* the first token was reported */
	bool keeps;	   /* a planned migration loses no request */
	bool variables;	   /* a script starts the engine: only variables change it */
	bool movable;	   /* with "variables": they can move it to the CPU */
	bool old_gone;	   /* of the act: the old engine has exited */
	bool stops;	   /* the act ends when the old engine exits */
	json_t *ordered;   /* reply to an operator when the act ends; NULL: none is pending */
	json_t *early;	   /* an order to a service whose engine is not identified yet */
	uint64_t early_ns; /* when it came */
	uint32_t ordered_plan;
	char model[DAVY_MODEL_LEN];
	char api_key[DAVY_API_KEY_LEN];
	char cgroup[DAVY_CGROUP_LEN];
};

#define DAVY_MEANT_MAX 8

struct davy_meant {
	uint32_t workload; /* 0: empty */
	uint8_t action;
	uint8_t hazard;
	char reason[1024];
};

struct davy_agent {
	struct davy_agent_options options;
	const struct davy_agent_hooks *hooks; /* NULL: no calls to higher folders */
	sd_event *loop;
	sd_event_source *tick;
	bool rests;	  /* the next tick is far in the future: agent_pace.c */
	uint64_t news_ns; /* time of the last event other than a tick or a clock event */
	struct davy_core core;
	struct davy_config config;	  /* as read from files; events pass it to the core */
	struct davy_policy_layers *rules; /* the last valid ones; NULL: none were read yet */
	uint32_t rules_read;		  /* number of times */
	char policy_error[DAVY_CONFIG_ERROR_LEN]; /* "": the files are in force */
	struct davy_bpf *bpf;
	struct davy_trace_writer *trace;
	struct davy_learned learned;
	int learned_unread; /* -errno: learned.conf was not read, do not replace it */
	uint64_t learned_tried_ns;
	struct davy_tracked tracked[DAVY_TRACKED_MAX];
	size_t verify_next; /* index of the next process to verify */
	struct davy_readers readers;
	uint64_t tracked_evicted;
	uint64_t tracked_evicted_reported;
	uint64_t tracked_reported_ns;
	uint32_t tracked_evicted_uid; /* uid of the last evicted process */
	uint64_t probes_checked_ns;
	uint64_t probes_changed; /* last seen value of davy_bpf_probes.change_count */
	struct davy_link links[DAVY_LINKS_MAX];
	uint32_t workload_count;
	struct davy_event
		waiting[DAVY_WAITING_MAX]; /* results of acts; fed when the current step is done */
	size_t waiting_count;
	bool acting;
	struct davy_link *orderer; /* sender of the order that is being decided */
	struct davy_sockets sockets;
	struct davy_orphan_groups orphans;
	struct davy_writer out, messages;
	bool terminal;
	uint64_t flushed_ns;
	uint64_t started_ns;
	uint64_t event_count;
	uint64_t unprinted_count;
	char probe_path[PATH_MAX];
	unsigned int probes_running; /* started by davy_agent_probe() */
	struct davy_recent recent;
	struct davy_gpus gpus;
	struct davy_nvml nvml;
	struct davy_kernel_log kernel_log;
	struct davy_kfd kfd;
	struct davy_module_asked modules[DAVY_MODULES_ASKED];
	struct davy_dmem dmem;
	struct davy_agent_vram vram;
	struct davy_freezes freezes;
	struct davy_in_force in_force;
	struct davy_units *units; /* NULL: out of memory */
	struct davy_kept_counts counts;
	uint64_t samples_taken;			 /* of the core's samples of alarms */
	struct davy_meant meant[DAVY_MEANT_MAX]; /* reasons of the latest acts */
	struct {
		uint64_t noted_ns;
		bool reported; /* a failed write was logged */
	} ledger;
	struct davy_kept_tuning tuning[DAVY_WORLD_WORKLOADS];
	int64_t wall_offset_s;	      /* of the wall clock, as reported to the core */
	struct davy_uevents *uevents; /* NULL: the socket could not be opened */
};

/* agent.c */
int davy_agent_run(const struct davy_agent_options *options);

#endif

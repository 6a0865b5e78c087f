/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: one loop that owns the clock. Sensors feed events, each goes through davy_agent_feed
 * and nowhere else: trace, core, plans; plans are reported and acted on. Its state is one struct;
 * what a room does has headers of the room. Only agent/ includes this, verbs see davy_agent_run.
 */
#ifndef DAVY_AGENT_H
#define DAVY_AGENT_H

#include <jansson.h>
#include <limits.h>
#include <systemd/sd-event.h>

#include "agent/agent_hooks.h"
#include "agent/feed/feed.h"
#include "agent/policy/agent_counts.h"
#include "agent/sense/agent_dmem.h"
#include "agent/sense/agent_gpus.h"
#include "agent/act/holds.h"
#include "agent/act/agent_intents.h"
#include "agent/sense/kernel_log.h"
#include "agent/sense/kfd.h"
#include "agent/ipc/links.h"
#include "agent/sense/lockups.h"
#include "agent/sense/reader.h"

#include "core/core.h"
#include "lib/outlet.h"
#include "sensors/bpf/bpf.h"
#include "sensors/proc/look.h"
#include "sensors/gpu/uevents.h"
#include "store/config_file.h"
#include "store/learned.h"
#include "store/policy_file.h"
#include "store/trace.h"

#define DAVY_TRACKED_MAX 512
#define DAVY_RECENT_MAX	 16
#define DAVY_RECENT_LEN	 1024
#define DAVY_WAITING_MAX 32

struct davy_units;

struct davy_agent_options {
	int mode; /* enum davy_mode, or -1: as configured */
	bool json;
	const char *record_path; /* NULL: no trace */
	const char *socket_path;
	const char *state_dir;
	const char *config_dir; /* people's hazards.conf lives here */
	const char *data_dir;	/* shipped policies */
};

/* A process the agent knows: what the core was told of it, and when to look again. */
struct davy_tracked {
	uint32_t pid; /* 0: empty */
	uint32_t uid; /* who answers for it: davy_process_account */
	uint32_t uid_told;
	uint32_t workload;
	uint32_t attempts;
	uint64_t used_ns;
	uint64_t inspect_ns;  /* 0: no further look is due */
	uint64_t verified_ns; /* when the pid was last seen to be who it was */
	uint64_t looked_ns;   /* when the last answer of a reader came */
	bool on_gpu;	      /* a GPU's driver named it: it is looked at even if no engine */
	bool opens_gpu;	      /* and rightly so */
	bool has_command;     /* false: in the middle of an exec, or ending */
	uint32_t loaded_backends;
	bool cpu_assumed; /* nothing of a GPU was seen for long */
	bool device_used; /* its memory lies there: the device is no guess */
	struct davy_ev_process told;
	uint64_t ledger_ns; /* what it survived up to then is in the ledger; 0: nothing yet */
	uint64_t slowest_job_ns;
	bool cxx_attached;
	bool ggml_attached;
	bool llama_attached;
	bool engine_known; /* its version was read, as far as it can be */
	uint64_t met_ns;   /* since when it, or its program, is known; 0: just now */
	char engine[DAVY_VERSION_TEXT_LEN];
};

/* What the core knows of a workload's settings, as far as it is in the database. */
struct davy_kept_tuning {
	uint32_t workload; /* 0: empty */
	uint32_t pid;	   /* whose environment was told */
	uint32_t changes;  /* that are saved */
	uint32_t answers;  /* of them */
	uint64_t saved_ns;
	bool stamped; /* it was told whole */
	uint8_t rules_backend;
	uint32_t rules_pid; /* of whom the rules were told, and when they had been read */
	uint32_t rules_read;
	char device[DAVY_DEVICE_LEN]; /* the row's key */
	char model[DAVY_MODEL_LEN];
};

/* A connected client; a supervisor (davylamp exec) has a workload. */
struct davy_link {
	struct davy_agent *agent;
	sd_event_source *source; /* NULL: empty; owns the descriptor */
	int fd;
	uint32_t uid;
	uint32_t messages; /* in this tick */
	uint64_t heard_ns;
	uint32_t peer_pid;
	uint32_t workload;
	uint32_t pid; /* the engine's */
	uint64_t start_ticks;
	enum davy_engine engine;
	enum davy_backend backend;
	uint16_t port;
	uint32_t act_plan; /* order given, end not reported yet */
	bool awaits;	   /* its engine is gone, it waits for our word */
	bool verifying;	   /* the new engine was reported, its first token is waited for */
	bool verified;	   /* it has given it already */
	bool keeps;	   /* a planned migration of it loses nothing */
	bool old_gone;	   /* of the act: the old engine */
	bool stops;	   /* the act ends with that */
	json_t *ordered; /* an operator's: what is told when the act has ended, NULL: none waits */
	uint32_t ordered_plan;
	char model[DAVY_MODEL_LEN];
	char cgroup[DAVY_CGROUP_LEN];
};

#define DAVY_MEANT_MAX 8

struct davy_meant {
	uint32_t workload; /* 0: empty */
	uint8_t action;
	uint8_t hazard;
	char because[1024];
};

struct davy_agent {
	struct davy_agent_options options;
	const struct davy_agent_hooks *hooks; /* NULL: nothing is called upwards */
	sd_event *loop;
	sd_event_source *tick;
	bool rests;	  /* the next tick is far off: agent_pace.c */
	uint64_t news_ns; /* when the last event came that is no tick and no time of day */
	struct davy_core core;
	struct davy_config config;	  /* as read from files; the core has it through events */
	struct davy_policy_layers *rules; /* the last good ones; NULL: none were read yet */
	uint32_t rules_read;		  /* how often */
	char policy_error[DAVY_CONFIG_ERROR_LEN]; /* "": the files are in force */
	struct davy_bpf *bpf;
	struct davy_trace_writer *trace;
	struct davy_learned learned;
	int learned_unread; /* -errno: learned.conf was not read, keep it; 0: it was */
	uint64_t learned_tried_ns;
	struct davy_tracked tracked[DAVY_TRACKED_MAX];
	size_t verify_next; /* of them, whose turn it is to be looked for */
	struct davy_readers readers;
	uint64_t tracked_evicted;
	uint64_t tracked_evicted_told;
	uint64_t tracked_told_ns;
	uint32_t tracked_evicted_uid; /* of the last one */
	uint64_t probes_checked_ns;
	uint64_t probes_changed; /* as last seen: davy_bpf_probes.change_count */
	struct davy_link links[DAVY_LINKS_MAX];
	uint32_t workload_count;
	struct davy_event
		waiting[DAVY_WAITING_MAX]; /* results of acts, fed when the step is done */
	size_t waiting_count;
	bool acting;
	struct davy_link *orderer; /* whose order is just being judged */
	struct davy_sockets sockets;
	struct davy_left_groups left;
	struct davy_outlet out, messages;
	bool terminal;
	uint64_t drawn_ns;
	uint64_t flushed_ns;
	uint64_t started_ns;
	uint64_t event_count;
	uint64_t unprinted_count;
	char probe_path[PATH_MAX];
	unsigned int probes_running;		       /* by davy_agent_probe */
	char recent[DAVY_RECENT_MAX][DAVY_RECENT_LEN]; /* the last lines, for a terminal */
	size_t recent_count;
	struct davy_gpus gpus;
	struct davy_kernel_log kernel_log;
	struct davy_kfd kfd;
	struct davy_module_asked modules[DAVY_MODULES_ASKED];
	struct davy_dmem dmem;
	struct davy_holds holds;
	struct davy_standing standing;
	struct davy_units *units; /* NULL: no memory */
	struct davy_kept_counts counts;
	struct davy_meant meant[DAVY_MEANT_MAX]; /* what the latest acts were for */
	struct {
		uint64_t noted_ns;
		bool told; /* that it cannot be written */
	} ledger;
	struct davy_kept_tuning tuning[DAVY_WORLD_WORKLOADS];
	int64_t wall_offset_s;	      /* of the wall clock, as the core was told it */
	struct davy_uevents *uevents; /* NULL: there is no such socket */
};

/* agent.c */
int davy_agent_run(const struct davy_agent_options *options);

#endif

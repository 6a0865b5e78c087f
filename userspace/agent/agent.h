/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: one loop that owns the clock. Sensors feed events, each goes through dl_agent_feed and
 * nowhere else: trace, core, plans; plans are reported and acted on. Only agent/ includes this,
 * verbs see dl_agent_run.
 */
#ifndef DL_AGENT_AGENT_H
#define DL_AGENT_AGENT_H

#include <jansson.h>
#include <limits.h>
#include <systemd/sd-event.h>

#include "agent/feed/agent_counts.h"
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
#include "agent/act/units.h"

#define DL_TRACKED_MAX 512
#define DL_RECENT_MAX  16
#define DL_RECENT_LEN  1024
#define DL_WAITING_MAX 32

struct dl_ledger_environment;

struct dl_agent_options {
	int mode; /* enum dl_mode, or -1: as configured */
	bool json;
	const char *record_path; /* NULL: no trace */
	const char *socket_path;
	const char *state_dir;
	const char *config_dir; /* people's hazards.conf lives here */
	const char *data_dir;	/* shipped policies */
};

/* A process the agent knows: what the core was told of it, and when to look again. */
struct dl_tracked {
	uint32_t pid; /* 0: empty */
	uint32_t uid; /* who answers for it: dl_process_account */
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
	struct dl_ev_process told;
	uint64_t ledger_ns; /* what it survived up to then is in the ledger; 0: nothing yet */
	uint64_t slowest_job_ns;
	bool cxx_attached;
	bool ggml_attached;
	bool llama_attached;
	bool engine_known; /* its version was read, as far as it can be */
	uint64_t met_ns;   /* since when it, or its program, is known; 0: just now */
	char engine[DL_VERSION_TEXT_LEN];
};

/* What the core knows of a workload's settings, as far as it is in the database. */
struct dl_kept_tuning {
	uint32_t workload; /* 0: empty */
	uint32_t pid;	   /* whose environment was told */
	uint32_t changes;  /* that are saved */
	uint32_t answers;  /* of them */
	uint64_t saved_ns;
	bool stamped; /* it was told whole */
	uint8_t rules_backend;
	uint32_t rules_pid; /* of whom the rules were told, and when they had been read */
	uint32_t rules_read;
	char device[DL_DEVICE_LEN]; /* the row's key */
	char model[DL_MODEL_LEN];
};

/* A connected client; a supervisor (davylamp exec) has a workload. */
struct dl_link {
	struct dl_agent *agent;
	sd_event_source *source; /* NULL: empty; owns the descriptor */
	int fd;
	uint32_t uid;
	uint32_t messages; /* in this tick */
	uint64_t heard_ns;
	uint32_t peer_pid;
	uint32_t workload;
	uint32_t pid; /* the engine's */
	uint64_t start_ticks;
	enum dl_engine engine;
	enum dl_backend backend;
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
	char model[DL_MODEL_LEN];
	char cgroup[DL_CGROUP_LEN];
};

#define DL_MEANT_MAX 8

struct dl_meant {
	uint32_t workload; /* 0: empty */
	uint8_t rung;
	uint8_t hazard;
	char because[1024];
};

struct dl_agent {
	struct dl_agent_options options;
	sd_event *loop;
	sd_event_source *tick;
	struct dl_core core;
	struct dl_config config;	/* as read from files; the core has it through events */
	struct dl_policy_layers *rules; /* the last good ones; NULL: none were read yet */
	uint32_t rules_read;		/* how often */
	char policy_error[DL_CONFIG_ERROR_LEN]; /* "": the files are in force */
	struct dl_bpf *bpf;
	struct dl_trace_writer *trace;
	struct dl_learned learned;
	int learned_unread; /* -errno: learned.conf was not read, keep it; 0: it was */
	uint64_t learned_tried_ns;
	struct dl_tracked tracked[DL_TRACKED_MAX];
	size_t verify_next; /* of them, whose turn it is to be looked for */
	struct dl_readers readers;
	uint64_t tracked_evicted;
	uint64_t tracked_evicted_told;
	uint64_t tracked_told_ns;
	uint32_t tracked_evicted_uid; /* of the last one */
	uint64_t probes_checked_ns;
	uint64_t probes_changed; /* as last seen: dl_bpf_probes.change_count */
	struct dl_link links[DL_LINKS_MAX];
	uint32_t workload_count;
	struct dl_event waiting[DL_WAITING_MAX]; /* results of acts, fed when the step is done */
	size_t waiting_count;
	bool acting;
	struct dl_link *orderer; /* whose order is just being judged */
	struct dl_sockets sockets;
	struct dl_left_groups left;
	struct dl_outlet out, messages;
	bool terminal;
	uint64_t drawn_ns;
	uint64_t flushed_ns;
	uint64_t started_ns;
	uint64_t event_count;
	uint64_t unprinted_count;
	char probe_path[PATH_MAX];
	unsigned int probes_running;		   /* by dl_agent_probe */
	char recent[DL_RECENT_MAX][DL_RECENT_LEN]; /* the last lines, for a terminal */
	size_t recent_count;
	struct dl_gpus gpus;
	struct dl_kernel_log kernel_log;
	struct dl_kfd kfd;
	struct dl_module_asked modules[DL_MODULES_ASKED];
	struct dl_dmem dmem;
	struct dl_holds holds;
	struct dl_standing standing;
	struct dl_units *units; /* NULL: no memory */
	struct dl_kept_counts counts;
	struct dl_meant meant[DL_MEANT_MAX]; /* what the latest acts were for */
	struct {
		uint64_t noted_ns;
		bool told; /* that it cannot be written */
	} ledger;
	struct dl_kept_tuning tuning[DL_WORLD_WORKLOADS];
	int64_t wall_offset_s;	    /* of the wall clock, as the core was told it */
	struct dl_uevents *uevents; /* NULL: there is no such socket */
};

/* agent.c */
int dl_agent_run(const struct dl_agent_options *options);

/* policy.c: on an error, which "error" tells, the last good configuration stays. */
int dl_policy_read(struct dl_agent *a, char error[DL_CONFIG_ERROR_LEN]);
void dl_policy_feed(struct dl_agent *a);
/* Rules of backends and settings, for those who start engines. */
void dl_policy_rules_open(struct dl_agent *a);
json_t *dl_policy_people_rules(struct dl_agent *a); /* the last good ones, as a message */
int dl_policy_reload(struct dl_agent *a, char error[DL_CONFIG_ERROR_LEN]);
/* Its own layer alone, after it was changed: what people write stays as it was read. */
void dl_policy_agent_layer_read(struct dl_agent *a);

/* policy_of.c: NULL, and it has been answered; or why not. */
const char *dl_agent_policy_of(struct dl_link *link, const json_t *message);

/* layer.c: the agent's policy layer with its history; NULL: it has been answered, or why not. */
void dl_agent_layer_open(struct dl_agent *a);
const char *dl_agent_layer_change(struct dl_link *link, const json_t *message);

/*
 * layer_tuned.c: an act is planned, and its reason is kept as evidence; it has ended well, and what
 * it changed for good becomes a rule.
 */
void dl_agent_layer_meant(struct dl_agent *a, const struct dl_plan *plan);
void dl_agent_layer_tuned(struct dl_agent *a, const struct dl_plan *plan);

/* rules.c: whom the rules are asked about, and what of them binds the core. */
void dl_agent_subject(struct dl_agent *a, const struct dl_ev_process *p,
		      struct dl_policy_subject *s);
void dl_agent_rules_tell(struct dl_agent *a, const struct dl_tracked *t,
			 struct dl_kept_tuning *kept);

/* tuning.c: what the tuner knows outlives the agent; the core is told it by events. */
void dl_agent_tuning_tick(struct dl_agent *a, uint64_t now_ns);
void dl_agent_tuning_close(struct dl_agent *a);
void dl_agent_tuning_forget(struct dl_agent *a, const char *device, const char *model);

/*
 * versions.c: the versions that an engine runs with, as the ledger keeps them. False: something of
 * it is still to be found out; what is known is filled in.
 */
bool dl_agent_environment(struct dl_agent *a, const struct dl_tracked *t,
			  struct dl_ledger_environment *ret_environment);
void dl_agent_kernel(struct dl_ledger_environment *environment); /* that alone */

/* finding.c: what a tool has found out about an engine's start; NULL, or why it is not taken. */
const char *dl_agent_finding(struct dl_agent *a, const json_t *message);

/* ledger.c */
void dl_agent_ledger_found(struct dl_agent *a, const struct dl_ev_finding *finding);
void dl_agent_ledger_tick(struct dl_agent *a, uint64_t now_ns);
void dl_agent_ledger_job(struct dl_agent *a, const struct dl_event *ev);
void dl_agent_ledger_failed(struct dl_agent *a, const struct dl_plan *plan);
/*
 * The least depth at which the model failed with a larger ubatch, under this kernel if it did; 0:
 * not known.
 */
uint32_t dl_agent_ledger_depth(struct dl_agent *a, enum dl_backend backend, const char *model,
			       uint32_t ubatch);

/* feed.c: the only way into the core. */
void dl_agent_feed(struct dl_agent *a, const struct dl_event *ev);
struct dl_event dl_agent_event(enum dl_event_kind kind, uint32_t pid);

/* acting.c */
void dl_agent_act(struct dl_agent *a, const struct dl_plan *plan);
void dl_agent_acted(struct dl_agent *a, uint32_t plan, uint32_t workload, enum dl_act_stage stage,
		    uint32_t pid, int result);
/* Asks an engine for a token; "plan", 0: none, then ends well or not. */
void dl_agent_ask(struct dl_agent *a, uint32_t workload, uint32_t plan, uint16_t port,
		  uint32_t wait_ms, uint32_t timeout_ms);

/* learned.c: learned.conf; it is written only after it was read. */
void dl_agent_learned_open(struct dl_agent *a);
void dl_agent_learned_tick(struct dl_agent *a, uint64_t now_ns);
void dl_agent_learn(struct dl_agent *a, const struct dl_plan *plan);
/* How many entries are gone, also for the core; -errno: the file cannot be read. */
int dl_agent_learned_forget(struct dl_agent *a, const char *device, const char *model);

/* act_order.c: orders to a supervisor (davylamp exec), and what it says of them. */
void dl_agent_replace(struct dl_agent *a, const struct dl_plan *plan);
void dl_agent_stop(struct dl_agent *a, const struct dl_plan *plan);
/* false: it is not the undoing of such an act. */
bool dl_agent_undo_replaced(struct dl_agent *a, const struct dl_plan *plan);
void dl_agent_stopped(struct dl_link *link);
void dl_agent_started(struct dl_link *link, bool verified, uint32_t token_ms);

/* left.c: what an earlier agent has left in force, told to the core. */
void dl_left_by_supervisor(struct dl_link *link, const json_t *message);
void dl_left_in_unit(const struct dl_service *u);

/* tracker.c: none of these waits for a process or for a reader, but where it says so. */
void dl_tracker_exec(struct dl_agent *a, uint32_t pid);
/* An event names it: for a few ms at most an answer is waited for, if it is not known. */
void dl_tracker_know(struct dl_agent *a, uint32_t pid);
/*
 * A process of an adopted unit, as it is now. NULL: not known yet, or gone; ask again on the next
 * tick. Waits for some ms.
 */
const struct dl_tracked *dl_tracker_meet(struct dl_agent *a, uint32_t pid);
const struct dl_tracked *dl_tracker_of(const struct dl_agent *a, uint32_t pid); /* as it was */
/* For the readers: what is wanted of it, and what they answer. */
void dl_tracker_wants(struct dl_agent *a, const struct dl_look_job *job, struct dl_look_request *q);
void dl_tracker_take(struct dl_agent *a, const struct dl_look_job *job,
		     const struct dl_look_reply *reply, const int *files);
void dl_tracker_used(struct dl_agent *a, uint32_t pid); /* its memory on a device was told */
bool dl_tracker_knows(struct dl_agent *a, uint32_t pid, uint64_t start_ticks);
void dl_tracker_gone(struct dl_agent *a, uint32_t pid);
void dl_tracker_tick(struct dl_agent *a, uint64_t now_ns);

/* tracked.c: whose processes find room, and what became of their probes. */
struct dl_tracked *dl_tracked_new(struct dl_agent *a, uint32_t pid);
void dl_tracked_forget(struct dl_agent *a, struct dl_tracked *t);
void dl_tracked_tick(struct dl_agent *a, uint64_t now_ns);

/* control.c */
void dl_control_tick(struct dl_agent *a);
struct dl_link *dl_link_of_workload(struct dl_agent *a, uint32_t workload);

/* orders.c: NULL, and the answer goes to the link now or later; or why not. */
const char *dl_agent_order(struct dl_link *link, const json_t *message);
void dl_agent_ordered(struct dl_agent *a, const struct dl_plan *plan); /* perhaps */
void dl_agent_order_ended(struct dl_agent *a, const struct dl_ev_act *act);

/* probing.c: NULL, and the answer goes to the link later; or why not. */
const char *dl_agent_probe(struct dl_link *link, const json_t *message);

/* status.c */
json_t *dl_agent_status(struct dl_agent *a);
json_t *dl_agent_sensors(const struct dl_agent *a); /* the ladder, and every program */

/* uevents.c */
void dl_agent_uevents_open(struct dl_agent *a);

/* coredump.c: keeps /sys/class/devcoredump/NAME and feeds an event; "at_ns" of the announcement. */
void dl_agent_coredump(struct dl_agent *a, const char *name, const char *device, uint64_t at_ns);

/* output.c */
void dl_output_open(struct dl_agent *a);
void dl_output_close(struct dl_agent *a);
void dl_output_plan(struct dl_agent *a, const struct dl_plan *plan);
void dl_output_event(struct dl_agent *a, const struct dl_event *ev);
void dl_output_tick(struct dl_agent *a, uint64_t now_ns);

#endif

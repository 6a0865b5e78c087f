/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: one loop that owns the clock. Sensors feed events, each goes through davy_agent_feed
 * and nowhere else: trace, core, plans; plans are reported and acted on. Only agent/ includes this,
 * verbs see davy_agent_run.
 */
#ifndef DAVY_AGENT_H
#define DAVY_AGENT_H

#include <jansson.h>
#include <limits.h>
#include <systemd/sd-event.h>

#include "agent/agent_hooks.h"
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
#include "agent/act/units.h"

#define DAVY_TRACKED_MAX 512
#define DAVY_RECENT_MAX	 16
#define DAVY_RECENT_LEN	 1024
#define DAVY_WAITING_MAX 32

struct davy_ledger_environment;

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
	uint8_t rung;
	uint8_t hazard;
	char because[1024];
};

struct davy_agent {
	struct davy_agent_options options;
	const struct davy_agent_hooks *hooks; /* NULL: nothing is called upwards */
	sd_event *loop;
	sd_event_source *tick;
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

/* policy.c: on an error, which "error" tells, the last good configuration stays. */
int davy_policy_read(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN]);
void davy_policy_feed(struct davy_agent *a);
/* Rules of backends and settings, for those who start engines. */
void davy_policy_rules_open(struct davy_agent *a);
json_t *davy_policy_people_rules(struct davy_agent *a); /* the last good ones, as a message */
int davy_policy_reload(struct davy_agent *a, char error[DAVY_CONFIG_ERROR_LEN]);
/* Its own layer alone, after it was changed: what people write stays as it was read. */
void davy_policy_agent_layer_read(struct davy_agent *a);

/* policy_of.c: NULL, and it has been answered; or why not. */
const char *davy_agent_policy_of(struct davy_link *link, const json_t *message);

/* layer.c: the agent's policy layer with its history; NULL: it has been answered, or why not. */
void davy_agent_layer_open(struct davy_agent *a);
const char *davy_agent_layer_change(struct davy_link *link, const json_t *message);

/*
 * layer_tuned.c: an act is planned, and its reason is kept as evidence; it has ended well, and what
 * it changed for good becomes a rule.
 */
void davy_agent_layer_meant(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_layer_tuned(struct davy_agent *a, const struct davy_plan *plan);

/* rules.c: whom the rules are asked about, and what of them binds the core. */
void davy_agent_subject(struct davy_agent *a, const struct davy_ev_process *p,
			struct davy_policy_subject *s);
void davy_agent_rules_tell(struct davy_agent *a, const struct davy_tracked *t,
			   struct davy_kept_tuning *kept);

/* tuning.c: what the tuner knows outlives the agent; the core is told it by events. */
void davy_agent_tuning_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_tuning_close(struct davy_agent *a);
void davy_agent_tuning_forget(struct davy_agent *a, const char *device, const char *model);

/*
 * agent_environment.c: the versions that an engine runs with, as the ledger keeps them. False:
 * something of it is still to be found out; what is known is filled in.
 */
bool davy_agent_environment(struct davy_agent *a, const struct davy_tracked *t,
			    struct davy_ledger_environment *ret_environment);
void davy_agent_kernel(struct davy_ledger_environment *environment); /* that alone */

/*
 * agent_finding.c: what a tool has found out about an engine's start; NULL, or why it is not taken.
 * "adopted": its unit is; else its model may be.
 */
const char *davy_agent_finding(struct davy_agent *a, const json_t *message, bool adopted);

/* ledger.c */
void davy_agent_ledger_found(struct davy_agent *a, const struct davy_ev_finding *finding);
void davy_agent_ledger_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_ledger_job(struct davy_agent *a, const struct davy_event *ev);
void davy_agent_ledger_failed(struct davy_agent *a, const struct davy_plan *plan);
/*
 * The least depth at which the model failed with a larger ubatch, under this kernel if it did; 0:
 * not known.
 */
uint32_t davy_agent_ledger_depth(struct davy_agent *a, enum davy_backend backend, const char *model,
				 uint32_t ubatch);

/* feed.c: the only way into the core. */
void davy_agent_feed(struct davy_agent *a, const struct davy_event *ev);
struct davy_event davy_agent_event(enum davy_event_kind kind, uint32_t pid);
/* What became of an act, as an event. */
void davy_agent_acted(struct davy_agent *a, uint32_t plan, uint32_t workload,
		      enum davy_act_stage stage, uint32_t pid, int result);

/* acting.c */
void davy_agent_act(struct davy_agent *a, const struct davy_plan *plan);
/* Lets go of all that is held, and takes all caps back; the answer to an operator. */
json_t *davy_agent_release_all(struct davy_agent *a);

/* act_check.c: asks an engine for a token; "plan", 0: none, then ends well or not. */
void davy_agent_ask(struct davy_agent *a, uint32_t workload, uint32_t plan, uint16_t port,
		    uint32_t wait_ms, uint32_t timeout_ms);

/* learned.c: learned.conf; it is written only after it was read. */
void davy_agent_learned_open(struct davy_agent *a);
void davy_agent_learned_tick(struct davy_agent *a, uint64_t now_ns);
void davy_agent_learn(struct davy_agent *a, const struct davy_plan *plan);
/* How many entries are gone, also for the core; -errno: the file cannot be read. */
int davy_agent_learned_forget(struct davy_agent *a, const char *device, const char *model);

/* act_order.c: orders to a supervisor (davylamp exec), and what it says of them. */
void davy_agent_replace(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_stop(struct davy_agent *a, const struct davy_plan *plan);
/* false: it is not the undoing of such an act. */
bool davy_agent_undo_replaced(struct davy_agent *a, const struct davy_plan *plan);
void davy_agent_stopped(struct davy_link *link);
void davy_agent_started(struct davy_link *link, bool verified, uint32_t token_ms);

/* left.c: what an earlier agent has left in force, told to the core. */
void davy_left_by_supervisor(struct davy_link *link, const json_t *message);
void davy_left_in_unit(const struct davy_service *u);

/* tracker.c: none of these waits for a process or for a reader, but where it says so. */
void davy_tracker_exec(struct davy_agent *a, uint32_t pid);
/* An event names it: for a few ms at most an answer is waited for, if it is not known. */
void davy_tracker_know(struct davy_agent *a, uint32_t pid);
/*
 * A process of an adopted unit, as it is now. NULL: not known yet, or gone; ask again on the next
 * tick. Waits for some ms.
 */
const struct davy_tracked *davy_tracker_meet(struct davy_agent *a, uint32_t pid);
/* For the readers: what is wanted of it, and what they answer. */
void davy_tracker_wants(struct davy_agent *a, const struct davy_look_job *job,
			struct davy_look_request *q);
void davy_tracker_take(struct davy_agent *a, const struct davy_look_job *job,
		       const struct davy_look_reply *reply, const int *files);
bool davy_tracker_knows(struct davy_agent *a, uint32_t pid, uint64_t start_ticks);
void davy_tracker_gone(struct davy_agent *a, uint32_t pid);
void davy_tracker_tick(struct davy_agent *a, uint64_t now_ns);

/* tracked.c: the table, whose processes find room in it, and what became of their probes. */
struct davy_tracked *davy_tracked_of(struct davy_agent *a, uint32_t pid); /* NULL: not known */
void davy_tracked_used(struct davy_agent *a, uint32_t pid); /* its memory on a device was told */
struct davy_tracked *davy_tracked_new(struct davy_agent *a, uint32_t pid);
void davy_tracked_forget(struct davy_agent *a, struct davy_tracked *t);
void davy_tracked_tick(struct davy_agent *a, uint64_t now_ns);

/* orders.c: NULL, and the answer goes to the link now or later; or why not. */
const char *davy_agent_order(struct davy_link *link, const json_t *message);
void davy_agent_ordered(struct davy_agent *a, const struct davy_plan *plan); /* perhaps */
void davy_agent_order_ended(struct davy_agent *a, const struct davy_ev_act *act);

/* probing.c: NULL, and the answer goes to the link later; or why not. */
const char *davy_agent_probe(struct davy_link *link, const json_t *message);

/* uevents.c */
void davy_agent_uevents_open(struct davy_agent *a);

/* coredump.c: keeps /sys/class/devcoredump/NAME and feeds an event; "at_ns" of the announcement. */
void davy_agent_coredump(struct davy_agent *a, const char *name, const char *device,
			 uint64_t at_ns);

/* output.c */
void davy_output_open(struct davy_agent *a);
void davy_output_close(struct davy_agent *a);
void davy_output_plan(struct davy_agent *a, const struct davy_plan *plan);
void davy_output_event(struct davy_agent *a, const struct davy_event *ev);
void davy_output_tick(struct davy_agent *a, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges from its steps how far an engine's start came, where it stopped and why. Pure and bounded:
 * no clock, file or global. Texts are untrusted; the printing code sanitizes them.
 */
#ifndef DAVY_STAGES_H
#define DAVY_STAGES_H

#include "trace/functions.h"
#include "trace/start_step.h"

#define DAVY_STAGES_PROCESSES 256
#define DAVY_STAGES_CAUSES    96
#define DAVY_STAGES_PATHS     24 /* places kept for one search */
#define DAVY_STAGES_NAME      64
#define DAVY_STAGES_PATH      256

enum davy_cause_kind {
	DAVY_CAUSE_NONE = 0,
	DAVY_CAUSE_LIBRARY_MISSING = 1, /* what: the library */
	DAVY_CAUSE_DEPENDENCY_MISSING =
		2,			 /* what: the missing one, of: the library that needs it */
	DAVY_CAUSE_SYMBOL_UNDEFINED = 3, /* what: the symbol, of: the library */
	DAVY_CAUSE_LIBRARY_UNUSABLE = 4, /* what: the library, detail: the linker's message */
	DAVY_CAUSE_INIT_FAILED = 5,	 /* what: the call, detail: its result */
	DAVY_CAUSE_NO_DEVICE = 6,	 /* what: the call */
	DAVY_CAUSE_QUERY_FAILED = 7,
	DAVY_CAUSE_NODE_REFUSED = 8,	    /* what: the device node, code: errno */
	DAVY_CAUSE_NOT_IN_CHILD = 9,	    /* what: the library, of: the parent */
	DAVY_CAUSE_BACKEND_NOT_LOADED = 10, /* what: the backend's library */
	DAVY_CAUSE_BACKEND_REFUSED = 11,    /* what: the argument of ggml_backend_load */
	DAVY_CAUSE_MEMORY_FAILED = 12,
	DAVY_CAUSE_GRAPH_FAILED = 13,
	DAVY_CAUSE_CRASHED = 14, /* code: signal, what: the call in progress */
	DAVY_CAUSE_KILLED = 15,	 /* code: signal, of: the sender */
	DAVY_CAUSE_EXITED = 16,	 /* code: exit status */
	DAVY_CAUSE_HANGS = 17,	 /* what: the call that has not returned */
	DAVY_CAUSE_NOTHING_LOOKED_FOR = 18,
	DAVY_CAUSE_COUNT = 19,
};

struct davy_cause {
	enum davy_cause_kind kind;
	enum davy_stage stage; /* where it stops a start */
	enum davy_family family;
	uint32_t pid;
	int32_t code;
	uint64_t at_ns;
	char what[DAVY_STAGES_PATH];
	char of[DAVY_STAGES_PATH];
	char detail[DAVY_STAGES_PATH];
};

/* Progress of one process with one family's libraries. */
enum davy_headway {
	DAVY_HEADWAY_NONE = 0,
	DAVY_HEADWAY_LOOKED = 1, /* searched for its library */
	DAVY_HEADWAY_LOADED = 2,
	DAVY_HEADWAY_ENTERED = 3,
	DAVY_HEADWAY_STARTED = 4, /* its init succeeded */
	DAVY_HEADWAY_DEVICES = 5, /* it found devices */
	DAVY_HEADWAY_OPENED = 6,  /* a device is ready for work */
	DAVY_HEADWAY_MEMORY = 7,
};

struct davy_start_process {
	uint32_t pid; /* 0: free */
	uint32_t parent;
	uint32_t execs;
	uint64_t began_ns; /* its last exec, else its fork */
	uint64_t ended_ns; /* 0: running */
	int32_t status;	   /* as from wait(2) */
	int32_t signal;	   /* the last one that could end it; 0: none */
	uint32_t sender;   /* of that signal; 0: the kernel */
	char sender_name[16];
	char name[DAVY_STAGES_NAME];
	char library_path[DAVY_STAGES_PATH]; /* LD_LIBRARY_PATH */
	char preload[DAVY_STAGES_PATH];
	bool engine; /* by its arguments or libraries */
	bool compat; /* it ran before it was followed */
	bool ended_on_purpose;
	enum davy_stage stage;
	uint32_t libraries; /* mapped ones, bits of davy_known_libraries */
	uint8_t headway[DAVY_FAMILY_COUNT];
	uint32_t devices[DAVY_FAMILY_COUNT];
	uint32_t open_call; /* function + 1 of the last call without a return */
	uint64_t open_call_ns;
	/* index + 1 of the cause of the last linker error, until another step follows */
	int last_error;
	/* what dlopen or ggml_backend_load are loading, the innermost last */
	uint32_t loading_tid;
	uint32_t loading_depth;
	uint32_t loader[4]; /* functions */
	char loading[4][DAVY_STAGES_PATH];
};

/* One library that a process searches for. */
struct davy_library_search {
	uint32_t pid; /* 0: free */
	char name[DAVY_STAGES_NAME];
	uint32_t places; /* total */
	uint32_t kept;
	uint64_t touched_ns;
	char path[DAVY_STAGES_PATHS][DAVY_STAGES_PATH];
};

#define DAVY_STAGES_SEARCHES 32

struct davy_stages {
	uint64_t began_ns; /* of the first step */
	uint64_t last_ns;
	uint32_t root; /* the first process */
	struct davy_start_process process[DAVY_STAGES_PROCESSES];
	struct davy_cause cause[DAVY_STAGES_CAUSES];
	size_t cause_count;
	uint64_t causes_dropped;
	uint64_t processes_dropped;
	struct davy_library_search search[DAVY_STAGES_SEARCHES];
	char found[16]
		  /* first path of each known library, see davy_known_libraries */
		  [DAVY_STAGES_PATH];
};

/* The outcome. */
struct davy_start_outcome {
	enum davy_stage reached;
	bool complete;		 /* a first graph was computed */
	enum davy_family family; /* the GPU runtime in use, or the one that failed */
	uint32_t devices;	 /* of that family */
	bool unused;		 /* complete, but the CPU computes; only for Vulkan */
	struct davy_cause cause; /* kind NONE: the start did not stop */
	size_t also[8];		 /* indices of further causes */
	size_t also_count;
	bool incomplete; /* steps were lost */
};

struct davy_stages *davy_stages_new(void);
void davy_stages_free(struct davy_stages *s);

void davy_stages_step(struct davy_stages *s, const struct davy_start_step *step);

/* Judges by the steps so far. "lost": number of lost records. */
void davy_stages_judge(const struct davy_stages *s, uint64_t now_ns, uint64_t lost,
		       struct davy_start_outcome *ret_outcome);

/* NULL: never seen. */
const struct davy_start_process *davy_stages_process(const struct davy_stages *s, uint32_t pid);

/* The places searched for a library (path or name); NULL: none. */
const struct davy_library_search *davy_stages_search(const struct davy_stages *s, uint32_t pid,
						     const char *name);

/* "library_missing" */
const char *davy_cause_name(enum davy_cause_kind kind);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The backend on which a command is started, and the reason: one pure function from facts (subject,
 * options, rules, breakers, free memory) to a decision with its tree. No file, clock or heap.
 * 'davylamp exec --explain' prints the tree.
 */
#ifndef DAVY_CHOICE_H
#define DAVY_CHOICE_H

#include "policy/effective.h"
#include "policy/fit.h"

#define DAVY_CHOICE_TEXT    448
#define DAVY_CHOICE_NODES   128
#define DAVY_CHOICE_KNOWN_S 3600 /* a model that has survived so long is known */

enum davy_want {
	DAVY_WANT_AUTO = 0,    /* by rules and breakers */
	DAVY_WANT_COMMAND = 1, /* in the command: rules warn, an open breaker refuses */
	DAVY_WANT_BACKEND = 2, /* --backend: rules and breakers warn, no fit refuses */
	DAVY_WANT_FORCE = 3,   /* --force-cpu, --force-gpu: every objection is a warning */
};

/* A breaker of a backend with this model. */
struct davy_choice_breaker {
	int64_t until_s; /* 0: closed, or expired */
	const char *device;
	const char *reason;
};

struct davy_choice_question {
	const struct davy_policy_set *set;
	struct davy_policy_subject subject; /* "backend", "forced" and "known" are set here */
	enum davy_want want;
	enum davy_backend wanted; /* except with AUTO */
	bool prefer_gpu;	  /* try the CPU last, whatever the rules' order */
	bool gpu_only;		  /* and do not use it at all */
	uint32_t can;		  /* bit 1 << backend: the engine has an option for it */
	uint64_t lived_s;	  /* survival of the model here, from the ledger */
	int64_t now_s;
	struct davy_choice_breaker breaker[DAVY_BACKEND_COUNT];
	struct davy_fit_question fit;
	const char *fit_unknown; /* why the size of the model is unknown; NULL: it is known */
};

enum davy_choice_mark {
	DAVY_MARK_FACT = 0, /* a fact */
	DAVY_MARK_YES = 1,
	DAVY_MARK_NO = 2,
	DAVY_MARK_WARN = 3,
	DAVY_MARK_COUNT = 4,
};

/* The subject of a node. */
enum davy_choice_step {
	DAVY_STEP_DEVICE = 0,
	DAVY_STEP_MODEL,
	DAVY_STEP_ASKED,
	DAVY_STEP_RULES,
	DAVY_STEP_BACKEND, /* a candidate; below it: */
	DAVY_STEP_ENGINE,
	DAVY_STEP_BREAKER,
	DAVY_STEP_MEMORY,
	DAVY_STEP_CHOSEN,
	DAVY_STEP_SETTING, /* below CHOSEN */
	DAVY_STEP_COUNT,
};

struct davy_choice_node {
	uint8_t depth; /* 0, or 1: below the last node of depth 0 */
	enum davy_choice_step step;
	enum davy_choice_mark mark;
	enum davy_backend backend;	       /* of BACKEND, CHOSEN and the nodes below */
	const struct davy_policy_value *value; /* the rule on which it is based, or NULL */
	char text[DAVY_CHOICE_TEXT];	       /* untrusted names: sanitize it before printing */
};

struct davy_choice {
	bool refused;			 /* nothing is started; the last CHOSEN has the reason */
	enum davy_backend backend;	 /* UNKNOWN: according to the command */
	bool unknown;			 /* the policy does not know the named model */
	bool pinned;			 /* the engine must get an option for this backend */
	uint32_t layers;		 /* on the GPU, because of a quota; 0: as in the command */
	struct davy_effective effective; /* settings for it */
	struct davy_effective before;	 /* by the rules alone: "backends" is their list */
	struct davy_policy_value known;	 /* the rule that names the model */
	size_t node_count;
	uint32_t left_out; /* number of nodes without room */
	struct davy_choice_node node[DAVY_CHOICE_NODES];
};

/* The question and its set must outlive the choice. Nodes point into both: do not copy a choice. */
void davy_choose(const struct davy_choice_question *question, struct davy_choice *ret_choice);

const char *davy_choice_step_name(enum davy_choice_step step);
const char *davy_choice_mark_name(enum davy_choice_mark mark);

/* "11.3 GiB" */
void davy_bytes_text(uint64_t bytes, char *text, size_t size);

#endif

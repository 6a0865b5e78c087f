/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which backend a command is to be started, and why: one pure function from what is known (who,
 * what was asked, the rules, what was learned, what is free) to a decision with its tree. No file,
 * clock or heap. The tree is what 'davylamp exec --explain' prints.
 */
#ifndef DAVY_CHOICE_H
#define DAVY_CHOICE_H

#include "policy/effective.h"
#include "policy/fit.h"

#define DAVY_CHOICE_TEXT    448
#define DAVY_CHOICE_NODES   128
#define DAVY_CHOICE_KNOWN_S 3600 /* who has lived so long is known */

enum davy_want {
	DAVY_WANT_AUTO = 0,    /* by the rules and what was learned */
	DAVY_WANT_COMMAND = 1, /* the command names it: rules warn, an open breaker beats it */
	DAVY_WANT_BACKEND = 2, /* --backend: rules and breakers warn, what cannot fit is refused */
	DAVY_WANT_FORCE = 3,   /* --force-cpu, --force-gpu: all of it warns */
};

/* What was learned against a backend with this model. */
struct davy_choice_breaker {
	int64_t until_s; /* 0: nothing, or over */
	const char *device;
	const char *because;
};

struct davy_choice_question {
	const struct davy_policy_set *set;
	struct davy_policy_subject subject; /* "backend", "forced" and "known" are filled in here */
	enum davy_want want;
	enum davy_backend wanted; /* but with AUTO */
	bool prefer_gpu;	  /* the CPU is tried last, whatever the rules' order */
	bool gpu_only;		  /* and then not at all */
	uint32_t can;		  /* bit 1 << backend: the engine can be told to use it */
	uint64_t lived_s;	  /* that the model has lived here, by the ledger */
	int64_t now_s;
	struct davy_choice_breaker breaker[DAVY_BACKEND_COUNT];
	struct davy_fit_question fit;
	const char *fit_unknown; /* why the model's size is not known; NULL: it is */
};

enum davy_choice_mark {
	DAVY_MARK_TOLD = 0, /* a fact */
	DAVY_MARK_YES = 1,
	DAVY_MARK_NO = 2,
	DAVY_MARK_WARN = 3,
	DAVY_MARK_COUNT = 4,
};

/* What a node is about. */
enum davy_choice_step {
	DAVY_STEP_DEVICE = 0,
	DAVY_STEP_MODEL,
	DAVY_STEP_ASKED,
	DAVY_STEP_RULES,
	DAVY_STEP_BACKEND, /* one that is tried; below it: */
	DAVY_STEP_ENGINE,
	DAVY_STEP_BREAKER,
	DAVY_STEP_MEMORY,
	DAVY_STEP_CHOSEN,
	DAVY_STEP_SETTING, /* below CHOSEN */
	DAVY_STEP_COUNT,
};

struct davy_choice_node {
	uint8_t depth; /* 0, or 1: below the last of depth 0 */
	enum davy_choice_step step;
	enum davy_choice_mark mark;
	enum davy_backend backend;	       /* of BACKEND, CHOSEN and what is below */
	const struct davy_policy_value *value; /* its evidence: a rule; NULL */
	char text[DAVY_CHOICE_TEXT];	       /* may hold what outsiders named: not safe to show */
};

struct davy_choice {
	bool refused;			 /* nothing may be started; the last CHOSEN says why */
	enum davy_backend backend;	 /* UNKNOWN: as the command says */
	bool unknown;			 /* nothing is known of the model that is named */
	bool pinned;			 /* it is to be that very one: the engine is to be told */
	struct davy_effective effective; /* settings for it */
	struct davy_effective before;	 /* of the rules alone: "backends" is their list */
	struct davy_policy_value known;	 /* the rule that names the model */
	size_t node_count;
	uint32_t left_out; /* nodes that found no room */
	struct davy_choice_node node[DAVY_CHOICE_NODES];
};

/* The question and its set outlive the choice. Nodes point into both: a choice is not copied. */
void davy_choose(const struct davy_choice_question *question, struct davy_choice *ret_choice);

const char *davy_choice_step_name(enum davy_choice_step step);
const char *davy_choice_mark_name(enum davy_choice_mark mark);

/* "11.3 GiB" */
void davy_bytes_text(uint64_t bytes, char *text, size_t size);

#endif

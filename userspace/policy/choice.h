/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which backend a command is to be started, and why: one pure function from what is known (who,
 * what was asked, the rules, what was learned, what is free) to a decision with its tree. No file,
 * clock or heap. The tree is what 'davylamp exec --explain' prints.
 */
#ifndef DL_POLICY_CHOICE_H
#define DL_POLICY_CHOICE_H

#include "policy/effective.h"
#include "policy/fit.h"

#define DL_CHOICE_TEXT	  448
#define DL_CHOICE_NODES	  128
#define DL_CHOICE_KNOWN_S 3600 /* who has lived so long is known */

enum dl_want {
	DL_WANT_AUTO = 0,    /* by the rules and what was learned */
	DL_WANT_COMMAND = 1, /* the command names it: rules warn, an open breaker beats it */
	DL_WANT_BACKEND = 2, /* --backend: rules and breakers warn, what cannot fit is refused */
	DL_WANT_FORCE = 3,   /* --force-cpu, --force-gpu: all of it warns */
};

/* What was learned against a backend with this model. */
struct dl_choice_breaker {
	int64_t until_s; /* 0: nothing, or over */
	const char *device;
	const char *because;
};

struct dl_choice_question {
	const struct dl_policy_set *set;
	struct dl_policy_subject subject; /* "backend", "forced" and "known" are filled in here */
	enum dl_want want;
	enum dl_backend wanted; /* but with AUTO */
	bool prefer_gpu;	/* the CPU is tried last, whatever the rules' order */
	bool gpu_only;		/* and then not at all */
	uint32_t can;		/* bit 1 << backend: the engine can be told to use it */
	uint64_t lived_s;	/* that the model has lived here, by the ledger */
	int64_t now_s;
	struct dl_choice_breaker breaker[DL_BACKEND_COUNT];
	struct dl_fit_question fit;
	const char *fit_unknown; /* why the model's size is not known; NULL: it is */
};

enum dl_choice_mark {
	DL_MARK_TOLD = 0, /* a fact */
	DL_MARK_YES = 1,
	DL_MARK_NO = 2,
	DL_MARK_WARN = 3,
	DL_MARK_COUNT = 4,
};

/* What a node is about. */
enum dl_choice_step {
	DL_STEP_DEVICE = 0,
	DL_STEP_MODEL,
	DL_STEP_ASKED,
	DL_STEP_RULES,
	DL_STEP_BACKEND, /* one that is tried; below it: */
	DL_STEP_ENGINE,
	DL_STEP_BREAKER,
	DL_STEP_MEMORY,
	DL_STEP_CHOSEN,
	DL_STEP_SETTING, /* below CHOSEN */
	DL_STEP_COUNT,
};

struct dl_choice_node {
	uint8_t depth; /* 0, or 1: below the last of depth 0 */
	enum dl_choice_step step;
	enum dl_choice_mark mark;
	enum dl_backend backend;	     /* of BACKEND, CHOSEN and what is below */
	const struct dl_policy_value *value; /* its evidence: a rule; NULL */
	char text[DL_CHOICE_TEXT];	     /* may hold what outsiders named: not safe to show */
};

struct dl_choice {
	bool refused;		       /* nothing may be started; the last CHOSEN says why */
	enum dl_backend backend;       /* UNKNOWN: as the command says */
	bool unknown;		       /* nothing is known of the model that is named */
	bool pinned;		       /* it is to be that very one: the engine is to be told */
	struct dl_effective effective; /* settings for it */
	struct dl_effective before;    /* of the rules alone: "backends" is their list */
	struct dl_policy_value known;  /* the rule that names the model */
	size_t node_count;
	uint32_t left_out; /* nodes that found no room */
	struct dl_choice_node node[DL_CHOICE_NODES];
};

/* The question and its set outlive the choice. Nodes point into both: a choice is not copied. */
void dl_choose(const struct dl_choice_question *question, struct dl_choice *ret_choice);

const char *dl_choice_step_name(enum dl_choice_step step);
const char *dl_choice_mark_name(enum dl_choice_mark mark);

/* "11.3 GiB" */
void dl_bytes_text(uint64_t bytes, char *text, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of the backend policy: on which device, engine and model which backends may be used, in
 * which order, with which settings. Three layers in one format (davylamp-backend.conf(5)): shipped,
 * people's, the agent's own. Pure: no file, clock or heap; policy_file.h reads and writes it.
 *
 * A layer is flat; its texts are offsets into its own bytes.
 */
#ifndef DAVY_RULE_H
#define DAVY_RULE_H

#include "core/event/types.h"

#define DAVY_RULES_MAX	     256
#define DAVY_RULE_VALUES_MAX 16
#define DAVY_RULE_NAME_LEN   41 /* letters a to z, digits and '-' */
#define DAVY_RULE_TEXT_LEN   176
#define DAVY_POLICY_TEXT_MAX ((size_t)64 * 1024) /* of all texts of a layer */
#define DAVY_POLICY_PATH_LEN 192

enum davy_layer {
	DAVY_LAYER_SHIPPED = 0,
	DAVY_LAYER_PEOPLE = 1,
	DAVY_LAYER_AGENT = 2,
	DAVY_LAYER_COUNT = 3,
};

/* "if NAME = ...": all of a rule's must hold. What is not known of a subject fulfils none. */
enum davy_condition {
	DAVY_IF_DRIVER = 0,
	DAVY_IF_DEVICE,
	DAVY_IF_VENDOR,
	DAVY_IF_KIND,
	DAVY_IF_GFX,
	DAVY_IF_GENERATION,
	DAVY_IF_FIRMWARE,
	DAVY_IF_KERNEL,
	DAVY_IF_ENGINE,
	DAVY_IF_MODEL,
	DAVY_IF_BACKEND, /* the one decided so far */
	DAVY_IF_COMPUTE_UNITS_BELOW,
	DAVY_IF_CONTEXT_ABOVE,
	DAVY_IF_LOCKUP_BELOW, /* of the queue that the backend uses */
	DAVY_IF_KNOWN,	      /* yes: rules name the model, or it has lived here; no */
	DAVY_IF_COUNT,
};

enum davy_policy_key {
	DAVY_POLICY_BACKENDS = 0, /* number: see davy_backends_pack */
	DAVY_POLICY_UBATCH,	  /* at most; 0: as the command says, here and below */
	DAVY_POLICY_UBATCH_FLOOR, /* tuning does not go below it */
	DAVY_POLICY_CONTEXT,	  /* at most, tokens of all slots together */
	DAVY_POLICY_PARALLEL,	  /* at most */
	DAVY_POLICY_GPU_LAYERS_OFF,
	DAVY_POLICY_CACHE_TYPE,	 /* number: enum davy_cache_type */
	DAVY_POLICY_MODE,	 /* number: enum davy_mode */
	DAVY_POLICY_WARN,	 /* told to whoever insists on another backend */
	DAVY_POLICY_ENVIRONMENT, /* of a name; an empty text: not set by the policy */
	DAVY_POLICY_ARGUMENT,	 /* of a name; an empty text: an option without a value */
	DAVY_POLICY_KEY_COUNT,
};

enum davy_cache_type {
	DAVY_CACHE_ANY = 0,
	DAVY_CACHE_F16 = 1,
	DAVY_CACHE_Q8_0 = 2,
	DAVY_CACHE_Q4_0 = 3,
	DAVY_CACHE_TYPE_COUNT = 4,
};

struct davy_rule_condition {
	uint64_t number; /* of ..._below and ..._above; lockup_below: ns */
	uint32_t text;	 /* as written; 0: there is no such condition */
	uint32_t line;	 /* 0: not read from a file */
};

struct davy_rule_value {
	uint32_t number;
	uint32_t text; /* as written; an environment's or an argument's value */
	uint32_t name; /* of those two */
	uint32_t line;
	uint32_t key; /* enum davy_policy_key */
};

struct davy_rule {
	char name[DAVY_RULE_NAME_LEN];
	bool pin; /* people's layer only: its values beat the agent's */
	uint8_t value_count;
	uint32_t line;
	uint32_t because; /* texts, 0: not told */
	uint32_t source;
	uint32_t date; /* YYYY-MM-DD */
	struct davy_rule_condition condition[DAVY_IF_COUNT];
	struct davy_rule_value value[DAVY_RULE_VALUES_MAX];
};

struct davy_policy_layer {
	uint32_t layer;			 /* enum davy_layer */
	char path[DAVY_POLICY_PATH_LEN]; /* to be shown; "": made up */
	uint32_t rule_count;
	uint32_t text_used;
	struct davy_rule rule[DAVY_RULES_MAX];
	char text[DAVY_POLICY_TEXT_MAX]; /* the first byte is 0: the empty text */
};

const char *davy_layer_name(enum davy_layer layer);

/* As in the file, without "if "; NULL beyond the last. */
const char *davy_condition_name(uint32_t condition);
const char *davy_policy_key_name(uint32_t key);
const char *davy_cache_type_name(uint32_t type);
const char *davy_vendor_name(uint32_t index);	  /* amd, intel, nvidia */
const char *davy_kind_name(uint32_t index);	  /* igpu, dgpu */
const char *davy_generation_name(uint32_t index); /* of Intel's GPUs, gen7 to xe3 */
const char *davy_known_name(uint32_t index);	  /* no, yes */

/* Up to eight backends in their order, four bits each, the first one lowest; 0 ends them. */
uint32_t davy_backends_pack(const enum davy_backend *list, size_t count);
size_t davy_backends_unpack(uint32_t packed, enum davy_backend list[DAVY_BACKEND_COUNT]);

/* Both touch only what is used of it: an empty layer costs a page. */
void davy_policy_layer_init(struct davy_policy_layer *layer, enum davy_layer kind);
void davy_policy_layer_copy(struct davy_policy_layer *dst, const struct davy_policy_layer *src);

const char *davy_policy_text(const struct davy_policy_layer *layer, uint32_t at);
struct davy_rule *davy_policy_rule_find(struct davy_policy_layer *layer, const char *name);

/* Takes one out; rules behind it move. NULL is no rule. */
void davy_policy_rule_remove(struct davy_policy_layer *layer, struct davy_rule *rule);

/*
 * Takes out the rules about a device, a model, or the one on the other ("": any; both: all that are
 * about one at all). About is what names it alone: a pattern for several is not. How many.
 */
size_t davy_policy_rules_forget(struct davy_policy_layer *layer, const char *device,
				const char *model);

/* NULL: there is one of that name, the name is none, or there is no room. */
struct davy_rule *davy_policy_rule_add(struct davy_policy_layer *layer, const char *name);

/*
 * Each sets what it names, in place of what was there. -ENOSPC: no room; -EINVAL: longer than a
 * line of a file can be. "text" is as a file has it; whether a reader would take it is found out by
 * davy_policy_text_write.
 */
int davy_rule_if(struct davy_policy_layer *layer, struct davy_rule *rule,
		 enum davy_condition condition, const char *text, uint64_t number);
int davy_rule_set(struct davy_policy_layer *layer, struct davy_rule *rule, enum davy_policy_key key,
		  const char *name, const char *text, uint32_t number);
int davy_rule_set_count(struct davy_policy_layer *layer, struct davy_rule *rule,
			enum davy_policy_key key, uint32_t count);

/* NULL: left as it is. What is too long is cut; " ;", which would begin a comment, becomes " ,". */
int davy_rule_say(struct davy_policy_layer *layer, struct davy_rule *rule, const char *because,
		  const char *source, const char *date);

/* A name as a pattern that fits it: what parts alternatives, or begins a comment, becomes '*'. */
void davy_rule_literal(char *dst, size_t size, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of the backend policy: on which device, engine and model which backends may be used, in
 * which order, with which settings. Three layers in one format (davylamp-backend.conf(5)): shipped,
 * people's, the agent's own. Pure: no file, clock or heap; policy_file.h reads and writes it.
 *
 * A layer is flat; its texts are offsets into its own bytes.
 */
#ifndef DL_POLICY_RULE_H
#define DL_POLICY_RULE_H

#include "core/event/types.h"

#define DL_RULES_MAX	   256
#define DL_RULE_VALUES_MAX 16
#define DL_RULE_NAME_LEN   41 /* letters a to z, digits and '-' */
#define DL_RULE_TEXT_LEN   176
#define DL_POLICY_TEXT_MAX ((size_t)64 * 1024) /* of all texts of a layer */
#define DL_POLICY_PATH_LEN 192

enum dl_layer {
	DL_LAYER_SHIPPED = 0,
	DL_LAYER_PEOPLE = 1,
	DL_LAYER_AGENT = 2,
	DL_LAYER_COUNT = 3,
};

/* "if NAME = ...": all of a rule's must hold. What is not known of a subject fulfils none. */
enum dl_condition {
	DL_IF_DRIVER = 0,
	DL_IF_DEVICE,
	DL_IF_VENDOR,
	DL_IF_KIND,
	DL_IF_GFX,
	DL_IF_GENERATION,
	DL_IF_FIRMWARE,
	DL_IF_KERNEL,
	DL_IF_ENGINE,
	DL_IF_MODEL,
	DL_IF_BACKEND, /* the one decided so far */
	DL_IF_COMPUTE_UNITS_BELOW,
	DL_IF_CONTEXT_ABOVE,
	DL_IF_LOCKUP_BELOW, /* of the queue that the backend uses */
	DL_IF_KNOWN,	    /* yes: rules name the model, or it has lived here; no */
	DL_IF_COUNT,
};

enum dl_policy_key {
	DL_POLICY_BACKENDS = 0, /* number: see dl_backends_pack */
	DL_POLICY_UBATCH,	/* at most; 0: as the command says, here and below */
	DL_POLICY_UBATCH_FLOOR, /* tuning does not go below it */
	DL_POLICY_CONTEXT,	/* at most, tokens of all slots together */
	DL_POLICY_PARALLEL,	/* at most */
	DL_POLICY_GPU_LAYERS_OFF,
	DL_POLICY_CACHE_TYPE,  /* number: enum dl_cache_type */
	DL_POLICY_MODE,	       /* number: enum dl_mode */
	DL_POLICY_WARN,	       /* told to whoever insists on another backend */
	DL_POLICY_ENVIRONMENT, /* of a name; an empty text: not set by the policy */
	DL_POLICY_ARGUMENT,    /* of a name; an empty text: an option without a value */
	DL_POLICY_KEY_COUNT,
};

enum dl_cache_type {
	DL_CACHE_ANY = 0,
	DL_CACHE_F16 = 1,
	DL_CACHE_Q8_0 = 2,
	DL_CACHE_Q4_0 = 3,
	DL_CACHE_TYPE_COUNT = 4,
};

struct dl_rule_condition {
	uint64_t number; /* of ..._below and ..._above; lockup_below: ns */
	uint32_t text;	 /* as written; 0: there is no such condition */
	uint32_t line;	 /* 0: not read from a file */
};

struct dl_rule_value {
	uint32_t number;
	uint32_t text; /* as written; an environment's or an argument's value */
	uint32_t name; /* of those two */
	uint32_t line;
	uint32_t key; /* enum dl_policy_key */
};

struct dl_rule {
	char name[DL_RULE_NAME_LEN];
	bool pin; /* people's layer only: its values beat the agent's */
	uint8_t value_count;
	uint32_t line;
	uint32_t because; /* texts, 0: not told */
	uint32_t source;
	uint32_t date; /* YYYY-MM-DD */
	struct dl_rule_condition condition[DL_IF_COUNT];
	struct dl_rule_value value[DL_RULE_VALUES_MAX];
};

struct dl_policy_layer {
	uint32_t layer;		       /* enum dl_layer */
	char path[DL_POLICY_PATH_LEN]; /* to be shown; "": made up */
	uint32_t rule_count;
	uint32_t text_used;
	struct dl_rule rule[DL_RULES_MAX];
	char text[DL_POLICY_TEXT_MAX]; /* the first byte is 0: the empty text */
};

const char *dl_layer_name(enum dl_layer layer);

/* As in the file, without "if "; NULL beyond the last. */
const char *dl_condition_name(uint32_t condition);
const char *dl_policy_key_name(uint32_t key);
const char *dl_cache_type_name(uint32_t type);
const char *dl_vendor_name(uint32_t index);	/* amd, intel, nvidia */
const char *dl_kind_name(uint32_t index);	/* igpu, dgpu */
const char *dl_generation_name(uint32_t index); /* of Intel's GPUs, gen7 to xe3 */
const char *dl_known_name(uint32_t index);	/* no, yes */

/* Up to eight backends in their order, four bits each, the first one lowest; 0 ends them. */
uint32_t dl_backends_pack(const enum dl_backend *list, size_t count);
size_t dl_backends_unpack(uint32_t packed, enum dl_backend list[DL_BACKEND_COUNT]);

/* Both touch only what is used of it: an empty layer costs a page. */
void dl_policy_layer_init(struct dl_policy_layer *layer, enum dl_layer kind);
void dl_policy_layer_copy(struct dl_policy_layer *dst, const struct dl_policy_layer *src);

const char *dl_policy_text(const struct dl_policy_layer *layer, uint32_t at);
struct dl_rule *dl_policy_rule_find(struct dl_policy_layer *layer, const char *name);

/* Takes one out; rules behind it move. NULL is no rule. */
void dl_policy_rule_remove(struct dl_policy_layer *layer, struct dl_rule *rule);

/*
 * Takes out the rules about a device, a model, or the one on the other ("": any; both: all that are
 * about one at all). About is what names it alone: a pattern for several is not. How many.
 */
size_t dl_policy_rules_forget(struct dl_policy_layer *layer, const char *device, const char *model);

/* NULL: there is one of that name, the name is none, or there is no room. */
struct dl_rule *dl_policy_rule_add(struct dl_policy_layer *layer, const char *name);

/*
 * Each sets what it names, in place of what was there. -ENOSPC: no room; -EINVAL: longer than a
 * line of a file can be. "text" is as a file has it; whether a reader would take it is found out by
 * dl_policy_text_write.
 */
int dl_rule_if(struct dl_policy_layer *layer, struct dl_rule *rule, enum dl_condition condition,
	       const char *text, uint64_t number);
int dl_rule_set(struct dl_policy_layer *layer, struct dl_rule *rule, enum dl_policy_key key,
		const char *name, const char *text, uint32_t number);
int dl_rule_set_count(struct dl_policy_layer *layer, struct dl_rule *rule, enum dl_policy_key key,
		      uint32_t count);

/* NULL: left as it is. What is too long is cut; " ;", which would begin a comment, becomes " ,". */
int dl_rule_say(struct dl_policy_layer *layer, struct dl_rule *rule, const char *because,
		const char *source, const char *date);

/* A name as a pattern that fits it: what parts alternatives, or begins a comment, becomes '*'. */
void dl_rule_literal(char *dst, size_t size, const char *name);

#endif

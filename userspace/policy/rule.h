/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of the backend policy: for a device, engine and model, which backends may be used, in which
 * order, with which settings. Four layers with one format (davylamp-backend.conf(5)): shipped, the
 * fleet's, the administrator's, the agent's own. Pure: no file, clock or heap; policy_file.h reads
 * and writes it.
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
	DAVY_LAYER_FLEET = 1, /* what other hosts have learned; it only narrows (davy_fleet_may) */
	DAVY_LAYER_ADMIN = 2,
	DAVY_LAYER_AGENT = 3,
	DAVY_LAYER_COUNT = 4,
};

/* "if NAME = ...": all conditions of a rule must match. An unknown fact matches none. */
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
	DAVY_IF_BACKEND, /* the one chosen so far */
	DAVY_IF_COMPUTE_UNITS_BELOW,
	DAVY_IF_CONTEXT_ABOVE,
	DAVY_IF_LOCKUP_BELOW, /* of the queue that the backend uses */
	DAVY_IF_KNOWN,	      /* yes: rules name the model, or it has survived here; no */
	DAVY_IF_PCI,	      /* "1002:744c" */
	DAVY_IF_MODEL_HASH,   /* davy_model_hash() */
	DAVY_IF_COUNT,
};

enum davy_policy_key {
	DAVY_POLICY_BACKENDS = 0, /* number: see davy_backends_pack */
	DAVY_POLICY_UBATCH,	  /* maximum; 0: according to the command, here and below */
	DAVY_POLICY_UBATCH_FLOOR, /* lower limit for the tuner */
	DAVY_POLICY_CONTEXT,	  /* maximum, tokens of all slots together */
	DAVY_POLICY_PARALLEL,	  /* maximum */
	DAVY_POLICY_GPU_LAYERS_OFF,
	DAVY_POLICY_CACHE_TYPE,	  /* number: enum davy_cache_type */
	DAVY_POLICY_MODE,	  /* number: enum davy_mode */
	DAVY_POLICY_WARN,	  /* message if another backend is forced */
	DAVY_POLICY_ENVIRONMENT,  /* of a name; an empty text: not set by the policy */
	DAVY_POLICY_ARGUMENT,	  /* of a name; an empty text: an option without a value */
	DAVY_POLICY_VRAM_MAX,	  /* KiB, on each device; 0: no quota */
	DAVY_POLICY_VRAM_HIGH,	  /* KiB, on each device; above: the hazard vram_high. 0: none */
	DAVY_POLICY_VRAM_RESERVE, /* KiB of a device for everybody outside the workloads */
	DAVY_POLICY_VRAM_PROTECT, /* KiB, on each device, that are evicted last (dmem.low) */
	DAVY_POLICY_THRESHOLD,	  /* agent's layer only: "job_stall.level2 60 %" */
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
	uint32_t text;	 /* unchanged from the file; 0: no such condition */
	uint32_t line;	 /* 0: not read from a file */
};

struct davy_rule_value {
	uint32_t number;
	uint32_t text; /* unchanged from the file; the value of a variable or an argument */
	uint32_t name; /* of a variable or an argument */
	uint32_t line;
	uint32_t key; /* enum davy_policy_key */
};

struct davy_rule {
	char name[DAVY_RULE_NAME_LEN];
	bool pin; /* administrator's layer only: takes precedence over the agent's */
	uint8_t value_count;
	uint32_t line;
	uint32_t reason; /* texts, 0: unknown */
	uint32_t source;
	uint32_t date; /* YYYY-MM-DD */
	struct davy_rule_condition condition[DAVY_IF_COUNT];
	struct davy_rule_value value[DAVY_RULE_VALUES_MAX];
};

struct davy_policy_layer {
	uint32_t layer;			 /* enum davy_layer */
	char path[DAVY_POLICY_PATH_LEN]; /* for messages; "": none */
	uint32_t rule_count;
	uint32_t text_used;
	struct davy_rule rule[DAVY_RULES_MAX];
	char text[DAVY_POLICY_TEXT_MAX]; /* the first byte is 0: the empty text */
};

const char *davy_layer_name(enum davy_layer layer);

/* Whether a rule of the fleet may set it: ubatch, backends, vram_reserve, warn. */
bool davy_fleet_may(uint32_t key);

/* As in the file, without "if "; NULL after the last. */
const char *davy_condition_name(uint32_t condition);
const char *davy_policy_key_name(uint32_t key);
const char *davy_cache_type_name(uint32_t type);
const char *davy_vendor_name(uint32_t index);	  /* amd, intel, nvidia */
const char *davy_kind_name(uint32_t index);	  /* igpu, dgpu */
const char *davy_generation_name(uint32_t index); /* of Intel's GPUs, gen7 to xe3 */
const char *davy_known_name(uint32_t index);	  /* no, yes */

/* Up to eight backends in order, four bits each, the first one lowest; 0 ends them. */
uint32_t davy_backends_pack(const enum davy_backend *list, size_t count);
size_t davy_backends_unpack(uint32_t packed, enum davy_backend list[DAVY_BACKEND_COUNT]);

/* Both touch only the used part: an empty layer costs a page. */
void davy_policy_layer_init(struct davy_policy_layer *layer, enum davy_layer kind);
void davy_policy_layer_copy(struct davy_policy_layer *dst, const struct davy_policy_layer *src);

const char *davy_policy_text(const struct davy_policy_layer *layer, uint32_t at);
struct davy_rule *davy_policy_rule_find(struct davy_policy_layer *layer, const char *name);

/* Removes a rule; later rules move. NULL: no rule. */
void davy_policy_rule_remove(struct davy_policy_layer *layer, struct davy_rule *rule);

/*
 * Removes the rules about a device, a model, or both ("": any; both empty: all that name one). A
 * rule is about a name if it contains that name alone, not in a pattern for several. Returns their
 * number.
 */
size_t davy_policy_rules_forget(struct davy_policy_layer *layer, const char *device,
				const char *model);

/* NULL: the name exists already or is invalid, or there is no room. */
struct davy_rule *davy_policy_rule_add(struct davy_policy_layer *layer, const char *name);

/*
 * Each sets the named value, replacing the old one. -ENOSPC: no room; -EINVAL: longer than a line
 * of a file can be. "text" is in the form of a file; davy_policy_text_write() checks whether a
 * reader would accept it.
 */
int davy_rule_if(struct davy_policy_layer *layer, struct davy_rule *rule,
		 enum davy_condition condition, const char *text, uint64_t number);
int davy_rule_set(struct davy_policy_layer *layer, struct davy_rule *rule, enum davy_policy_key key,
		  const char *name, const char *text, uint32_t number);
int davy_rule_set_count(struct davy_policy_layer *layer, struct davy_rule *rule,
			enum davy_policy_key key, uint32_t count);

/* NULL: unchanged. Longer texts are cut; " ;", which would begin a comment, becomes " ,". */
int davy_rule_say(struct davy_policy_layer *layer, struct davy_rule *rule, const char *reason,
		  const char *source, const char *date);

/*
 * A pattern that matches the name: a sign that separates alternatives or begins a comment becomes
 * '*'.
 */
void davy_rule_literal(char *dst, size_t size, const char *name);

#endif

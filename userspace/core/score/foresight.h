/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How well the hazards foresee. Every failure that enters the core is put into a class; failures
 * that belong together are one episode. A sign is an alarm of some level of a hazard that can lead
 * to a class: the first one before an episode, on the same device or process, is what foresaw it.
 * Counted per hazard and per class; read by reports, kept by the core.
 */
#ifndef DAVY_FORESIGHT_H
#define DAVY_FORESIGHT_H

#include "core/event/plan.h"

#define DAVY_FORESIGHT_SIGNS	128
#define DAVY_FORESIGHT_EPISODES 16

/* Histogram of lead times: slot n counts those below DAVY_LEAD_SLOT_NS << n; the last is open. */
#define DAVY_LEAD_SLOTS	  32
#define DAVY_LEAD_SLOT_NS ((uint64_t)1 << 20) /* 1.05 ms */

struct davy_lead {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint32_t slot[DAVY_LEAD_SLOTS];
};

/* A sign has one fate; those without one yet stand, or their horizon is not over. */
struct davy_hazard_score {
	uint64_t signs;
	uint64_t confirmed;    /* a failure came that it can lead to */
	uint64_t averted;      /* an act on its workload succeeded before one came */
	uint64_t late;	       /* raised while such a failure went on; no other came */
	uint64_t false_alarms; /* none came */
	struct davy_lead lead; /* of the failures whose first sign it was */
};

struct davy_class_score {
	uint64_t failures;
	uint64_t missed; /* no sign preceded them; the others are those of "lead" */
	struct davy_lead lead;
};

struct davy_sign {
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	uint64_t at_ns;
	uint64_t last_ns; /* when it was seen last; a standing one is seen */
	uint32_t pid;
	uint32_t workload;
	uint32_t kind; /* enum davy_event_kind: of what it was seen */
	uint8_t hazard;
	bool used;
	bool standing;
	bool confirmed;
	bool late;
	bool stranger; /* of such a process: it counts only if what it told has come */
	uint8_t pad[6];
};

struct davy_episode {
	char device[DAVY_DEVICE_LEN];
	char ring[DAVY_RING_NAME_LEN];
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t pid;
	uint32_t kind; /* enum davy_event_kind of the first failure */
	uint8_t class; /* enum davy_log_class */
	bool used;
	bool told;	/* false: memory ran out, and nobody has died of it */
	bool resetting; /* a reset of the GPU has begun and not ended */
	uint8_t pad[4];
};

struct davy_foresight {
	struct davy_hazard_score hazard[DAVY_HZ_COUNT];
	struct davy_class_score class[DAVY_CLASS_COUNT];
	struct davy_sign signs[DAVY_FORESIGHT_SIGNS];
	struct davy_episode episodes[DAVY_FORESIGHT_EPISODES];
	uint32_t sign_count; /* of them in use */
	uint32_t pad;
};

/*
 * What a hazard is to failures: the classes of the kernel's lines of the same hazard (log_kind.c),
 * and what an engine makes of it. One of the first three is set; an alarm whose row does not list a
 * class earns nothing by it.
 */
struct davy_precursor {
	uint16_t leads;	     /* classes it can lead to: bits of enum davy_log_class_bit */
	uint8_t fails_as;    /* the alarm itself is a failure: enum davy_log_class */
	bool told_by_events; /* a consequence: the failure is seen in the event itself */
	enum davy_config_key horizon;
};

/* The end of the slot that holds the median, within what was seen; 0 when there is none. */
uint64_t davy_lead_median_ns(const struct davy_lead *lead);

/* Adds the counts of "from"; signs and episodes are not taken over. */
void davy_foresight_add(struct davy_foresight *to, const struct davy_foresight *from);

#endif

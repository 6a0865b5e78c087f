/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How well the hazards foresee. Every failure that enters the core is put into a class; failures
 * that belong together are one episode. A sign is an alarm of some level of a hazard that can lead
 * to a class: the first one before an episode, on the same device or process, is what foresaw it.
 * Counted per hazard and per class; read by reports, kept by the core.
 */
#ifndef DL_CORE_FORESIGHT_H
#define DL_CORE_FORESIGHT_H

#include "core/event/plan.h"

#define DL_FORESIGHT_SIGNS    128
#define DL_FORESIGHT_EPISODES 16

/* Histogram of lead times: slot n counts those below DL_LEAD_SLOT_NS << n; the last is open. */
#define DL_LEAD_SLOTS	32
#define DL_LEAD_SLOT_NS ((uint64_t)1 << 20) /* 1.05 ms */

struct dl_lead {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint32_t slot[DL_LEAD_SLOTS];
};

/* A sign has one fate; those without one yet stand, or their horizon is not over. */
struct dl_hazard_score {
	uint64_t signs;
	uint64_t confirmed;    /* a failure came that it can lead to */
	uint64_t averted;      /* an act on its workload succeeded before one came */
	uint64_t late;	       /* raised while such a failure went on; no other came */
	uint64_t false_alarms; /* none came */
	struct dl_lead lead;   /* of the failures whose first sign it was */
};

struct dl_class_score {
	uint64_t failures;
	uint64_t missed; /* no sign preceded them; the others are those of "lead" */
	struct dl_lead lead;
};

struct dl_sign {
	char device[DL_DEVICE_LEN];
	char ring[DL_RING_NAME_LEN];
	uint64_t at_ns;
	uint64_t last_ns; /* when it was seen last; a standing one is seen */
	uint32_t pid;
	uint32_t workload;
	uint32_t kind; /* enum dl_event_kind: of what it was seen */
	uint8_t hazard;
	bool used;
	bool standing;
	bool confirmed;
	bool late;
	bool stranger; /* of such a process: it counts only if what it told has come */
	uint8_t pad[6];
};

struct dl_episode {
	char device[DL_DEVICE_LEN];
	char ring[DL_RING_NAME_LEN];
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t pid;
	uint32_t kind; /* enum dl_event_kind of the first failure */
	uint8_t class; /* enum dl_log_class */
	bool used;
	bool told;	/* false: memory ran out, and nobody has died of it */
	bool resetting; /* a reset of the GPU has begun and not ended */
	uint8_t pad[4];
};

struct dl_foresight {
	struct dl_hazard_score hazard[DL_HZ_COUNT];
	struct dl_class_score class[DL_CLASS_COUNT];
	struct dl_sign signs[DL_FORESIGHT_SIGNS];
	struct dl_episode episodes[DL_FORESIGHT_EPISODES];
	uint32_t sign_count; /* of them in use */
	uint32_t pad;
};

/* What a hazard is to failures. One of the three is set. */
struct dl_precursor {
	uint16_t leads;	     /* classes it can lead to: bits of enum dl_log_class_bit */
	uint8_t fails_as;    /* the alarm itself is a failure: enum dl_log_class */
	bool told_by_events; /* a consequence: the failure is seen in the event itself */
	enum dl_config_key horizon;
};

const struct dl_precursor *dl_precursor(enum dl_hazard hazard);

/* The end of the slot that holds the median, within what was seen; 0 when there is none. */
uint64_t dl_lead_median_ns(const struct dl_lead *lead);

/* Adds the counts of "from"; signs and episodes are not taken over. */
void dl_foresight_add(struct dl_foresight *to, const struct dl_foresight *from);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom the backend policy is asked about, and what follows of it from what sysfs and KFD tell of a
 * device. Pure; host_subject.h reads.
 */
#ifndef DAVY_SUBJECT_H
#define DAVY_SUBJECT_H

#include "core/event/event.h"

#define DAVY_LOCKUP_NEVER      UINT64_MAX
#define DAVY_POLICY_FACT_LEN   24
#define DAVY_POLICY_KERNEL_LEN 65 /* struct utsname */

/* One more than the index of its name. */
enum davy_known {
	DAVY_KNOWN_UNTOLD = 0, /* nobody asked, or no model is named */
	DAVY_KNOWN_NO = 1,
	DAVY_KNOWN_YES = 2,
};

/* Numbers are 0 and strings empty where they are unknown. */
struct davy_policy_subject {
	enum davy_engine engine;
	enum davy_backend backend; /* in use, or asked for */
	bool forced;		   /* somebody insists on it: settings are those for it */
	char model[DAVY_MODEL_LEN];
	enum davy_known known; /* whether anything is known of the model with that device */
	uint32_t context;      /* tokens of all slots together that the command asks for */
	uint32_t available;    /* bit 1 << enum davy_backend; 0: not known; the CPU always is */
	/* Of the one device it is about. */
	char device[DAVY_DEVICE_LEN];
	char driver[DAVY_POLICY_FACT_LEN];
	char vendor[DAVY_POLICY_FACT_LEN];     /* davy_vendor_name */
	char kind[DAVY_POLICY_FACT_LEN];       /* davy_kind_name */
	char gfx[DAVY_POLICY_FACT_LEN];	       /* "gfx906" */
	char generation[DAVY_POLICY_FACT_LEN]; /* davy_generation_name */
	char firmware[96];		       /* "mes 0x83, smc 0x4d3a00" */
	uint32_t compute_units;
	uint64_t lockup_ns[DAVY_BACKEND_COUNT]; /* of the queue it uses; DAVY_LOCKUP_NEVER */
	char kernel[DAVY_POLICY_KERNEL_LEN];	/* uname -r */
};

/* Also whose it is. */
void davy_subject_driver(struct davy_policy_subject *subject, const char *driver);

/*
 * An Intel GPU's generation and kind from its PCI id (linux, include/drm/intel/pciids.h, 2026); ids
 * that are not known leave both as they are.
 */
void davy_subject_intel(struct davy_policy_subject *subject, uint32_t pci_id);

/*
 * An AMD GPU's name, kind and compute units from KFD's node (gfx_target_version 90012: gfx90c;
 * SIMDs: four a compute unit before gfx10, two since). MI300A is not told from MI300X.
 */
void davy_subject_kfd(struct davy_policy_subject *subject, uint32_t gfx_target_version,
		      uint32_t simd_count);

/* A PCI vendor's number; what is no GPU maker of ours leaves it as it is. */
void davy_subject_vendor(struct davy_policy_subject *subject, uint32_t pci_vendor);

/* "AMD Radeon Graphics (RADV GFX1150)", as Mesa's RADV calls its device: the chip's name. */
void davy_subject_radv(struct davy_policy_subject *subject, const char *device_name);

/* Backends that a GPU of that vendor may have, bits 1 << enum davy_backend; all, if not known. */
uint32_t davy_subject_backends(const struct davy_policy_subject *subject);

/* Backends that the engine has, by "available"; all of them where it is not known. */
uint32_t davy_subject_there(const struct davy_policy_subject *subject);

/*
 * The backend that llama.cpp and its like take without an order. "can": bit 1 << backend, of those
 * that the engine supports (davy_engine_backends). CPU when it has no other.
 */
enum davy_backend davy_subject_default_backend(const struct davy_policy_subject *subject,
					       uint32_t can);

/*
 * How long a job may run in a kind of queue (as in struct davy_ev_lockup): of those that a backend
 * uses the shortest counts. A timeout of 0 is "never" unless its origin is unknown.
 */
void davy_subject_lockup(struct davy_policy_subject *subject, const char *queue,
			 uint64_t timeout_ns, uint32_t origin);

#endif

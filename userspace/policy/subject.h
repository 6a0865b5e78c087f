/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subject of the backend policy, and the facts that follow from sysfs and KFD for a device.
 * Pure; host_subject.h reads them.
 */
#ifndef DAVY_SUBJECT_H
#define DAVY_SUBJECT_H

#include "core/event/event.h"

#define DAVY_LOCKUP_NEVER      UINT64_MAX
#define DAVY_POLICY_FACT_LEN   24
#define DAVY_MODEL_HASH_LEN    17 /* 16 hexadecimal digits */
#define DAVY_POLICY_KERNEL_LEN 65 /* struct utsname */

/* Index of its name plus one. */
enum davy_known {
	DAVY_KNOWN_UNREPORTED = 0, /* no request, or no model is named */
	DAVY_KNOWN_NO = 1,
	DAVY_KNOWN_YES = 2,
};

/* Numbers are 0 and strings empty if unknown. */
struct davy_policy_subject {
	enum davy_engine engine;
	enum davy_backend backend; /* in use, or requested */
	bool forced;		   /* a user forces it: the settings are those for it */
	char model[DAVY_MODEL_LEN];
	enum davy_known known; /* whether the model is known with that device */
	uint32_t context;      /* tokens of all slots together in the command */
	uint32_t available;    /* bit 1 << enum davy_backend; 0: unknown; the CPU always is */
	/* Facts of the device. */
	char device[DAVY_DEVICE_LEN];
	char pci[DAVY_POLICY_FACT_LEN]; /* vendor and device, "1002:744c" */
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

/*
 * The name by which the hosts of a fleet know a model: FNV-1a of its file name or alias, 16 digits.
 * It keeps the name out of the store. Anyone who guesses the name can compute the hash.
 */
void davy_model_hash(const char *model, char ret_hash[DAVY_MODEL_HASH_LEN]);

/* Sets "pci"; no effect for vendor 0. */
void davy_subject_pci(struct davy_policy_subject *subject, uint32_t vendor, uint32_t device);

/* Also sets its vendor. */
void davy_subject_driver(struct davy_policy_subject *subject, const char *driver);

/*
 * The generation and kind of an Intel GPU from its PCI id (linux, include/drm/intel/pciids.h,
 * 2026). Unknown ids leave both unchanged.
 */
void davy_subject_intel(struct davy_policy_subject *subject, uint32_t pci_id);

/*
 * The name, kind and compute units of an AMD GPU from KFD's node (gfx_target_version 90012: gfx90c;
 * SIMDs: four per compute unit before gfx10, two since). MI300A and MI300X are not distinguished.
 */
void davy_subject_kfd(struct davy_policy_subject *subject, uint32_t gfx_target_version,
		      uint32_t simd_count);

/* From a PCI vendor id; unknown vendors leave it unchanged. */
void davy_subject_vendor(struct davy_policy_subject *subject, uint32_t pci_vendor);

/* "AMD Radeon Graphics (RADV GFX1150)", the name of Mesa's RADV for its device: the chip's name. */
void davy_subject_radv(struct davy_policy_subject *subject, const char *device_name);

/* Possible backends of a GPU of that vendor, bits 1 << enum davy_backend; all, if unknown. */
uint32_t davy_subject_backends(const struct davy_policy_subject *subject);

/* The engine's backends, by "available"; all of them if unknown. */
uint32_t davy_subject_there(const struct davy_policy_subject *subject);

/*
 * The backend that llama.cpp and similar engines take without an option. "can": bit 1 << backend,
 * of those that the engine supports (davy_engine_backends). CPU if it has no other.
 */
enum davy_backend davy_subject_default_backend(const struct davy_policy_subject *subject,
					       uint32_t can);

/*
 * How long a job may run in a kind of queue (as in struct davy_ev_lockup): the shortest of the
 * queues that a backend uses. A timeout of 0 is "never" unless its origin is unknown.
 */
void davy_subject_lockup(struct davy_policy_subject *subject, const char *queue,
			 uint64_t timeout_ns, uint32_t origin);

#endif

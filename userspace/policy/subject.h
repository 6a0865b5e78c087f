/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom the backend policy is asked about, and what follows of it from what sysfs and KFD tell of a
 * device. Pure; host_subject.h reads.
 */
#ifndef DL_POLICY_SUBJECT_H
#define DL_POLICY_SUBJECT_H

#include "core/event/event.h"

#define DL_LOCKUP_NEVER	     UINT64_MAX
#define DL_POLICY_FACT_LEN   24
#define DL_POLICY_KERNEL_LEN 65 /* struct utsname */

/* One more than the index of its name. */
enum dl_known {
	DL_KNOWN_UNTOLD = 0, /* nobody asked, or no model is named */
	DL_KNOWN_NO = 1,
	DL_KNOWN_YES = 2,
};

/* Numbers are 0 and strings empty where they are unknown. */
struct dl_policy_subject {
	enum dl_engine engine;
	enum dl_backend backend; /* in use, or asked for */
	bool forced;		 /* somebody insists on it: settings are those for it */
	char model[DL_MODEL_LEN];
	enum dl_known known; /* whether anything is known of the model with that device */
	uint32_t context;    /* tokens of all slots together that the command asks for */
	uint32_t available;  /* bit 1 << enum dl_backend; 0: not known; the CPU always is */
	/* Of the one device it is about. */
	char device[DL_DEVICE_LEN];
	char driver[DL_POLICY_FACT_LEN];
	char vendor[DL_POLICY_FACT_LEN];     /* dl_vendor_name */
	char kind[DL_POLICY_FACT_LEN];	     /* dl_kind_name */
	char gfx[DL_POLICY_FACT_LEN];	     /* "gfx906" */
	char generation[DL_POLICY_FACT_LEN]; /* dl_generation_name */
	char firmware[96];		     /* "mes 0x83, smc 0x4d3a00" */
	uint32_t compute_units;
	uint64_t lockup_ns[DL_BACKEND_COUNT]; /* of the queue it uses; DL_LOCKUP_NEVER */
	char kernel[DL_POLICY_KERNEL_LEN];    /* uname -r */
};

/* Also whose it is. */
void dl_subject_driver(struct dl_policy_subject *subject, const char *driver);

/*
 * An Intel GPU's generation and kind from its PCI id (linux, include/drm/intel/pciids.h, 2026); ids
 * that are not known leave both as they are.
 */
void dl_subject_intel(struct dl_policy_subject *subject, uint32_t pci_id);

/*
 * An AMD GPU's name, kind and compute units from KFD's node (gfx_target_version 90012: gfx90c;
 * SIMDs: four a compute unit before gfx10, two since). MI300A is not told from MI300X.
 */
void dl_subject_kfd(struct dl_policy_subject *subject, uint32_t gfx_target_version,
		    uint32_t simd_count);

/* A PCI vendor's number; what is no GPU maker of ours leaves it as it is. */
void dl_subject_vendor(struct dl_policy_subject *subject, uint32_t pci_vendor);

/* "AMD Radeon Graphics (RADV GFX1150)", as Mesa's RADV calls its device: the chip's name. */
void dl_subject_radv(struct dl_policy_subject *subject, const char *device_name);

/* Backends that a GPU of that vendor may have, bits 1 << enum dl_backend; all, if not known. */
uint32_t dl_subject_backends(const struct dl_policy_subject *subject);

/*
 * How long a job may run in a kind of queue (as in struct dl_ev_lockup): of those that a backend
 * uses the shortest counts. A timeout of 0 is "never" unless its origin is unknown.
 */
void dl_subject_lockup(struct dl_policy_subject *subject, const char *queue, uint64_t timeout_ns,
		       uint32_t origin);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens SMI descriptors, in a child process. Whoever opens /dev/kfd becomes a process of KFD's
 * until its address space is gone: it is listed as one, the driver may map its trap handler into it
 * (APUs), 7.2 ends it by SIGBUS when a GPU leaves, and the open itself waits for locks that a hang
 * holds (kfd_open and kfd_create_process in kfd_process.c; kgd2kfd_teardown_processes in
 * kfd_device.c). None of that is for the agent; the descriptors work without /dev/kfd and without
 * the child.
 */
#ifndef DAVY_KFD_OPENER_H
#define DAVY_KFD_OPENER_H

#include "core/event/types.h"
#include "lib/child.h"

struct davy_kfd_answer {
	uint32_t gpu_id; /* 0: about /dev/kfd itself */
	int32_t error;	 /* 0 or -errno */
};

struct davy_kfd_opener {
	struct davy_child child;
	int fd; /* readable when an answer waits */
};

/*
 * Asks for a descriptor of each GPU. With "stay" the child remains a process of KFD's until
 * davy_kfd_opener_done(). -errno.
 */
int davy_kfd_opener_start(struct davy_kfd_opener *o, const uint32_t *gpu_ids, size_t count,
			  bool stay);

/*
 * 1: an answer, "ret_fd" is the descriptor or -1; 0: none yet; -ENODATA: there is no other, the
 * child has ended.
 */
int davy_kfd_opener_next(struct davy_kfd_opener *o, struct davy_kfd_answer *ret_answer,
			 int *ret_fd);

/*
 * Ends the child and waits for that a moment. -ETIMEDOUT: it is inside the kernel and goes when
 * that lets it; its pid is left for davy_kfd_opener_reap().
 */
int davy_kfd_opener_done(struct davy_kfd_opener *o);

/* True when no child is left. */
bool davy_kfd_opener_reap(struct davy_kfd_opener *o);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens SMI descriptors in a child process. A process that opens /dev/kfd is a KFD process until
 * its address space is freed. It is listed as one, and the driver may map its trap handler into it
 * (APUs). 7.2 kills it with SIGBUS when a GPU is removed. The open may wait for locks that are held
 * during a hang (kfd_open and kfd_create_process in kfd_process.c; kgd2kfd_teardown_processes in
 * kfd_device.c). The agent must avoid all of this. The descriptors work without /dev/kfd and
 * without the child.
 */
#ifndef DAVY_KFD_OPENER_H
#define DAVY_KFD_OPENER_H

#include "core/event/types.h"
#include "lib/child.h"

struct davy_kfd_answer {
	uint32_t gpu_id; /* 0: concerns /dev/kfd itself */
	int32_t error;	 /* 0 or -errno */
};

struct davy_kfd_opener {
	struct davy_child child;
	int fd; /* readable when an answer is available */
};

/*
 * Requests a descriptor for each GPU. With "stay", the child remains a KFD process until
 * davy_kfd_opener_done(). 0 or -errno.
 */
int davy_kfd_opener_start(struct davy_kfd_opener *o, const uint32_t *gpu_ids, size_t count,
			  bool stay);

/* 1: an answer, "ret_fd" is a descriptor or -1; 0: none yet; -ENODATA: the child has ended. */
int davy_kfd_opener_next(struct davy_kfd_opener *o, struct davy_kfd_answer *ret_answer,
			 int *ret_fd);

/* Kills the child and waits briefly. -ETIMEDOUT: it hangs; davy_kfd_opener_reap() reaps it. */
int davy_kfd_opener_done(struct davy_kfd_opener *o);

/* True if no child is left. */
bool davy_kfd_opener_reap(struct davy_kfd_opener *o);

#endif

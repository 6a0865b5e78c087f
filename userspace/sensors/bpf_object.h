/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One BPF object: which programs' hooks are proven to exist, loaded with only those, its shared
 * maps taken from the objects before it. Inside of sensors/ only.
 */
#ifndef DL_SENSORS_BPF_OBJECT_H
#define DL_SENSORS_BPF_OBJECT_H

#include <bpf/libbpf.h>

#include "../core/event.h"

#define DL_BPF_LINKS 16

/* Maps that the first object makes and the others are given. */
enum dl_shared_map {
	DL_SHARED_EVENTS,
	DL_SHARED_URGENT,
	DL_SHARED_LOSSES,
	DL_SHARED_JOBS,
	DL_BPF_SHARED_MAPS,
};

struct dl_shared_maps {
	const char *name[DL_BPF_SHARED_MAPS];
	int fd[DL_BPF_SHARED_MAPS]; /* -1 until an object has made it */
};

struct dl_bpf_object {
	const char *name;
	const char *module; /* kernel module whose hooks it uses, NULL: none */
	const void *(*bytes)(size_t *size);
	struct bpf_object *object; /* NULL while not loaded */
	struct bpf_link *links[DL_BPF_LINKS];
	size_t link_count;
	uint64_t lost_ns;  /* since when it is not live though it was; 0: is, or never was */
	uint64_t retry_ns; /* when to try again; 0: not by itself */
	uint32_t attempts;
	bool partial; /* the kernel refused some of its programs */
	struct dl_ev_sensor state;
};

/* 0, or -errno with state.reason filled. Programs whose hook is absent stay off. */
int dl_bpf_object_load(struct dl_bpf_object *o, struct dl_shared_maps *shared);
void dl_bpf_object_unload(struct dl_bpf_object *o);
int dl_bpf_object_map(const struct dl_bpf_object *o, const char *name);

#endif

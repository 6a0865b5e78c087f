/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An adopted container of a Kubernetes pod, by what kubelet leaves on its node:
 *
 *   /var/log/pods/NAMESPACE_POD_UID/CONTAINER, the names and uid (kubelet, pkg/kubelet/kuberuntime)
 *   /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, the ids of its containers
 *   kubepods.slice/.../kubepods-podUID.slice/RUNTIME-ID.scope, or kubepods/.../podUID/ID
 *
 * The pod's name is its identity: a controller may replace the pod. Only the cluster may change
 * it; what the agent wants is an annotation and an event, if it may use the cluster's API.
 */
#ifndef DAVY_POD_H
#define DAVY_POD_H

#include "container/runtime_api.h"

#define DAVY_POD_ANNOTATION "io.davylamp/wants"
#define DAVY_POD_NAME_MAX   ((size_t)253)
#define DAVY_POD_CGROUP_LEN 512

struct davy_pod {
	struct davy_runtime_api *api; /* "why" is set on errors */
	const char *access;	      /* directory with "server", "token" and "ca.crt" */
	char namespace[64], name[DAVY_POD_NAME_MAX + 1];
	char container[64];		  /* "": the only one */
	char uid[40];			  /* "": there is no such pod on this node */
	char id[72];			  /* of the container */
	char cgroup[DAVY_POD_CGROUP_LEN]; /* in the cgroup v2 hierarchy; "": it does not run */
	json_int_t pid;			  /* its first process; 0: none */
};

/* "NAMESPACE/POD[/CONTAINER]". False: no such name. */
bool davy_pod_parse(struct davy_pod *p, const char *name);

/* Reads uid, id, cgroup and pid. -ENOTUNIQ: which of its containers is not said. */
int davy_pod_look(struct davy_pod *p);

/* The variables as one text, cut to "size". Returns "text". */
const char *davy_pod_wants(const char *const *env, size_t count, char *text, size_t size);

/*
 * Asks the cluster for these variables ("NAME=VALUE"); none: takes the request back. 0: the pod has
 * the annotation; -ENOKEY: there is no access to the cluster.
 */
int davy_pod_ask(struct davy_pod *p, const char *const *env, size_t count);

/* The answer to "state", as act/container_unit.c reads it. */
json_t *davy_pod_state(const struct davy_pod *p);

#endif

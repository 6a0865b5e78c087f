/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expected device files, and a child with the service's user, groups, mounts and cgroup that
 * opens each: group names prove nothing. The child ends at once, because a process that has opened
 * /dev/kfd is a KFD process while it runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/read.h"

static struct davy_doctor_node *nodes_add(struct davy_doctor_facts *facts,
					  enum davy_doctor_node_kind kind, const char *device,
					  uint32_t backends)
{
	struct davy_doctor_node *n;

	if (facts->node_count == DAVY_DOCTOR_NODES)
		return NULL;
	n = &facts->node[facts->node_count++];
	memset(n, 0, sizeof(*n));
	n->kind = kind;
	n->backends = backends;
	davy_copy_name(n->device, sizeof(n->device), device);
	return n;
}

static void add_nvidia(struct davy_doctor_facts *facts)
{
	const uint32_t backends = davy_doctor_backends_of("nvidia");
	static const char *const shared[] = { "/dev/nvidiactl", "/dev/nvidia-uvm" };
	struct davy_doctor_node *n;
	unsigned int minor = 0;

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		n = nodes_add(facts, DAVY_NODE_NVIDIA, "", backends);
		if (n)
			davy_copy_name(n->path, sizeof(n->path), shared[i]);
	}
	for (size_t i = 0; i < facts->gpu_count; i++) {
		if (strcmp(facts->gpu[i].driver, "nvidia") != 0)
			continue;
		n = nodes_add(facts, DAVY_NODE_NVIDIA, facts->gpu[i].device, backends);
		if (n)
			snprintf(n->path, sizeof(n->path), "/dev/nvidia%u", minor++);
	}
}

static void list_nodes(struct davy_doctor_facts *facts)
{
	bool kfd = false, nvidia = false;
	struct davy_doctor_node *n;

	for (size_t i = 0; i < facts->gpu_count; i++) {
		const struct davy_doctor_gpu *g = &facts->gpu[i];

		kfd |= g->has_kfd_node;
		nvidia |= !strcmp(g->driver, "nvidia");
		n = g->render >= 0 && strcmp(g->driver, "nvidia") != 0
			    ? nodes_add(facts, DAVY_NODE_RENDER, g->device,
					davy_doctor_backends_of(g->subject.vendor))
			    : NULL;
		if (n)
			snprintf(n->path, sizeof(n->path), "/dev/dri/renderD%d", g->render);
	}
	n = kfd ? nodes_add(facts, DAVY_NODE_KFD, "", 1u << DAVY_BACKEND_ROCM) : NULL;
	if (n)
		davy_copy_name(n->path, sizeof(n->path), "/dev/kfd");
	if (nvidia)
		add_nvidia(facts);
}

static void nodes_look_at(struct davy_doctor_node *n)
{
	struct stat st;
	int fd;

	if (stat(n->path, &st)) {
		n->exists = errno == EACCES || errno == ELOOP;
		return;
	}
	n->exists = true;
	n->is_device = S_ISCHR(st.st_mode);
	n->mode = st.st_mode & 07777;
	n->uid = st.st_uid;
	n->gid = st.st_gid;
	if (!n->is_device)
		return;
	n->error = -ETIMEDOUT; /* until open returns */
	fd = open(n->path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	n->error = fd < 0 ? -errno : 0;
	n->tested = true;
	if (fd >= 0)
		close(fd);
}

/* Runs in the child. */
static void nodes_look_at_all(struct davy_doctor_facts *facts, const struct davy_who *who)
{
	(void)who;
	for (size_t i = 0; i < facts->node_count; i++)
		nodes_look_at(&facts->node[i]);
}

/* If the child fails: read the files' attributes here, without opening them. */
static void look_ourselves(struct davy_doctor_facts *facts, int error)
{
	for (size_t i = 0; i < facts->node_count; i++) {
		struct davy_doctor_node *n = &facts->node[i];
		struct stat st;

		if (n->tested || stat(n->path, &st))
			continue;
		n->exists = true;
		n->is_device = S_ISCHR(st.st_mode);
		n->mode = st.st_mode & 07777;
		n->uid = st.st_uid;
		n->gid = st.st_gid;
		n->error = error;
	}
}

void davy_read_nodes(struct davy_doctor_facts *facts, const struct davy_who *who)
{
	const struct group *gr;
	int err;

	list_nodes(facts);
	if (!facts->node_count)
		return;
	err = davy_who_do(who, facts, "the device files", nodes_look_at_all);
	if (err)
		look_ourselves(facts, err);
	for (size_t i = 0; i < facts->node_count; i++) {
		gr = getgrgid(facts->node[i].gid);
		if (gr)
			davy_copy_name(facts->node[i].group, sizeof(facts->node[i].group),
				       gr->gr_name);
	}
}

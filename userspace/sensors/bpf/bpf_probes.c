/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uprobes on functions of engines' libraries. Who may have them: probe_slots.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sensors/bpf/bpf_state.h"

#define DETACH_NS (5 * DAVY_NS_PER_S) /* an engine that starts anew finds its probes in place */

static const struct {
	const char *name;
	const char *program;
} kinds[] = {
	{ "throw", "throw_seen" },	   { "compute", "graph_entered" },
	{ "set", "copy_entered" },	   { "get", "copy_entered" },
	{ "synchronize", "graph_synced" }, { "ubatch", "ubatch_entered" },
	{ "decode", "decode_entered" },	   { "result", "graph_returned" },
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

_Static_assert(KIND_COUNT <= DAVY_PROBE_KINDS, "kinds of probes");

static uint32_t probe_kind(const char *name)
{
	uint32_t kind = 0;

	while (kind < KIND_COUNT && strcmp(kinds[kind].name, name) != 0)
		kind++;
	return kind;
}

static void probe_detach(struct davy_bpf *b, size_t slot)
{
	bpf_link__destroy(b->probe_link[slot]);
	b->probe_link[slot] = NULL;
}

static int probe_attach(struct davy_bpf *b, size_t slot, struct bpf_program *p, const char *path,
			uint64_t offset)
{
	probe_detach(b, slot); /* of the previous user of the slot */
	b->probe_link[slot] = bpf_program__attach_uprobe(p, false, -1, path, offset);
	return b->probe_link[slot] ? 0 : -errno;
}

int davy_bpf_attach_library(struct davy_bpf *b, const char *path, const char *name, uint64_t offset,
			    const struct davy_probe_owner *owner)
{
	struct bpf_object *object = b->objects[DAVY_OBJ_ENGINE].object;
	struct davy_probe_site site = { .kind = probe_kind(name), .offset = offset };
	struct bpf_program *p = NULL;
	struct stat st;
	size_t slot;
	int err;

	if (stat(path, &st))
		return -errno;
	site.dev = st.st_dev;
	site.ino = st.st_ino;
	if (object && site.kind < KIND_COUNT)
		p = bpf_object__find_program_by_name(object, kinds[site.kind].program);
	if (!p)
		return -EINVAL;
	err = davy_probe_slots_claim(&b->probes, owner, &site, davy_boot_ns(), &slot);
	if (err <= 0)
		return err;
	err = probe_attach(b, slot, p, path, offset);
	if (!err)
		return 1;
	davy_probe_slots_drop(&b->probes, slot);
	return err;
}

void davy_bpf_owner(struct davy_bpf *b, const struct davy_probe_owner *owner)
{
	davy_probe_slots_owner(&b->probes, owner);
}

void davy_bpf_owner_gone(struct davy_bpf *b, uint32_t pid)
{
	davy_probe_slots_gone(&b->probes, pid);
}

bool davy_bpf_probed(const struct davy_bpf *b, uint32_t pid, const char *name)
{
	return davy_probe_slots_holds(&b->probes, pid, probe_kind(name));
}

bool davy_bpf_probe_lost(const struct davy_bpf *b, uint32_t pid)
{
	return davy_probe_slots_lost(&b->probes, pid);
}

void davy_bpf_probes(const struct davy_bpf *b, struct davy_bpf_probes *ret_probes)
{
	*ret_probes = (struct davy_bpf_probes){
		.used = davy_probe_slots_used(&b->probes),
		.evicted_count = b->probes.evicted_count,
		.refused_count = b->probes.refused_count,
		.change_count = b->probes.change_count,
	};
}

/* One event a second at most, however many lost a probe. */
static void probes_report(struct davy_bpf *b, uint64_t now_ns)
{
	uint64_t count = b->probes.evicted_count + b->probes.refused_count;
	struct davy_event ev;

	if (count == b->probes_reported || now_ns - b->probes_reported_ns < DAVY_NS_PER_S)
		return;
	b->probes_reported = count;
	b->probes_reported_ns = now_ns;
	memset(&ev, 0, sizeof(ev));
	ev.at_ns = now_ns;
	ev.kind = DAVY_EV_SENSOR;
	ev.sensor.state = DAVY_SENSOR_LOST;
	ev.sensor.count = count;
	davy_copy_name(ev.sensor.name, sizeof(ev.sensor.name), "probes");
	snprintf(ev.sensor.reason, sizeof(ev.sensor.reason),
		 "user %u has too many engine libraries: %llu probes refused, %llu taken away so "
		 "far",
		 b->probes.last_uid, (unsigned long long)b->probes.refused_count,
		 (unsigned long long)b->probes.evicted_count);
	davy_sensor_say(b, &ev);
}

/* To detach takes the kernel up to 0.1 s: one at a time. */
void davy_bpf_probes_tick(struct davy_bpf *b, uint64_t now_ns)
{
	size_t slot;

	probes_report(b, now_ns);
	if (now_ns - b->detached_ns < DETACH_NS)
		return;
	b->detached_ns = now_ns;
	if (davy_probe_slots_free_idle(&b->probes, &slot))
		probe_detach(b, slot);
}

void davy_bpf_probes_free(struct davy_bpf *b)
{
	for (size_t i = 0; i < DAVY_PROBE_SLOTS; i++)
		probe_detach(b, i);
}

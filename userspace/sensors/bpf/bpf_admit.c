/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of VRAM and its limits: userspace writes limits only, the programs count. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sensors/bpf/bpf_state.h"

#include "lib/log.h"

#define PINS	"/sys/fs/bpf/davylamp"
#define WALK_NS (60 * DAVY_NS_PER_S)
/* A new agent leaves the earlier one's pinned refusals in force until it knows its workloads. */
#define PINS_NS	      (10 * DAVY_NS_PER_S)
#define PINS_RETRY_NS (300 * DAVY_NS_PER_S)
#define AGAIN_NS      (10 * DAVY_NS_PER_S)

static int admit_map(const struct davy_bpf *b, const char *name)
{
	return davy_bpf_object_map(&b->objects[DAVY_OBJ_ADMIT], name);
}

void davy_bpf_vram_record(struct davy_bpf *b, const struct davy_wire_vram *w)
{
	struct davy_event ev;

	if (!w->why || w->why >= DAVY_VRAM_WHY_COUNT)
		return;
	memset(&ev, 0, sizeof(ev));
	ev.at_ns = w->head.boot_ns;
	ev.kind = DAVY_EV_VRAM;
	ev.pid = w->head.tgid;
	memcpy(ev.vram.device, w->dev, sizeof(w->dev) - 1);
	memcpy(ev.vram.cgroup, w->name, sizeof(ev.vram.cgroup) - 1);
	ev.vram.bytes = w->bytes;
	ev.vram.used = w->used;
	ev.vram.limit = w->limit;
	ev.vram.count = w->count;
	ev.vram.why = (uint8_t)w->why;
	davy_sensor_say(b, &ev);
}

static bool is_wanted(const struct davy_vram_rules *rules, uint64_t cgroup)
{
	for (size_t i = 0; i < rules->quota_count; i++)
		if (rules->quota[i].cgroup == cgroup)
			return true;
	return false;
}

/* Deletes limits that are not in the rules; true: there were some. */
static bool quotas_drop(int fd, const struct davy_vram_rules *rules)
{
	uint64_t key = 0, next;
	bool changed = false, first = true;

	while (!bpf_map_get_next_key(fd, first ? NULL : &key, &next)) {
		if (is_wanted(rules, next)) {
			key = next;
			first = false;
		} else if (bpf_map_delete_elem(fd, &next)) {
			break;
		} else {
			changed = true;
		}
	}
	return changed;
}

/* True: it has changed. */
static bool admit_put(int fd, const void *key, const void *value, size_t size)
{
	struct davy_vram_limit old; /* the larger of the two values */

	if (!bpf_map_lookup_elem(fd, key, &old) && !memcmp(&old, value, size))
		return false;
	if (bpf_map_update_elem(fd, key, value, BPF_ANY))
		davy_log("a limit of VRAM cannot be set: the kernel's table is full");
	return true;
}

static void reserves_set(int fd, const struct davy_vram_rules *rules)
{
	for (size_t i = 0; i < rules->reserve_count; i++)
		admit_put(fd, rules->reserve[i].device, &rules->reserve[i].bytes,
			  sizeof(rules->reserve[i].bytes));
}

/* -EEXIST: another user's, if the file system is open to all. */
static int pins_open(void)
{
	int fd = open(PINS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid())
		return fd;
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? -EEXIST : -errno;
}

static void pins_remove(void)
{
	int fd = pins_open();
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		unlinkat(fd, entry->d_name, 0);
	closedir(dir);
	rmdir(PINS);
}

static int pins_make(struct davy_bpf_object *o)
{
	int fd;

	mkdir(PINS, 0700);
	fd = pins_open();
	if (fd < 0)
		return fd;
	close(fd);
	return davy_bpf_object_pin(o, PINS);
}

static void pins_set(struct davy_bpf *b, bool wanted)
{
	struct davy_bpf_object *o = &b->objects[DAVY_OBJ_ADMIT];
	int err;

	if (!b->vram_pins_due_ns)
		b->vram_pins_due_ns = b->read_ns + PINS_NS;
	if (b->read_ns < b->vram_pins_due_ns || (b->vram_pins_own && wanted == (o->pins != NULL)))
		return;
	pins_remove();
	o->pins = NULL;
	b->vram_pins_own = true;
	err = wanted ? pins_make(o) : 0;
	if (!err)
		return;
	b->vram_pins_due_ns = b->read_ns + PINS_RETRY_NS;
	davy_log("the quotas of VRAM end with the agent: '%s' cannot be made (%s)%s", PINS,
		 strerror(-err),
		 err == -EEXIST ? "; it is another user's"
				: "; 'mount -t bpf bpf /sys/fs/bpf' may be missing");
}

void davy_bpf_vram_set(struct davy_bpf *b, const struct davy_vram_rules *rules)
{
	struct davy_vram_state state = { 0 };
	bool changed, wanted = rules->wanted || rules->quota_count;
	uint32_t zero = 0;
	int limits;

	if (wanted != b->vram_wanted) {
		b->vram_wanted = wanted;
		davy_bpf_want(b, DAVY_OBJ_ADMIT, wanted);
	}
	pins_set(b, rules->pin && b->objects[DAVY_OBJ_ADMIT].loaded);
	limits = admit_map(b, "vram_limits");
	if (limits < 0)
		return;
	reserves_set(admit_map(b, "vram_reserves"), rules);
	changed = quotas_drop(limits, rules);
	for (size_t i = 0; i < rules->quota_count; i++)
		changed |= admit_put(limits, &rules->quota[i].cgroup, &rules->quota[i].limit,
				     sizeof(rules->quota[i].limit));
	state.generation = b->vram_generation += changed;
	if (changed) /* only now: the programs read the limits again */
		bpf_map_update_elem(admit_map(b, "vram_state"), &zero, &state, BPF_ANY);
}

static void high_tell(struct davy_bpf *b, const struct davy_vram_quota *q,
		      const struct davy_vram_device *device, const struct davy_vram *account,
		      uint64_t now_ns)
{
	struct davy_event ev = { .at_ns = now_ns, .kind = DAVY_EV_VRAM, .pid = q->pid };

	davy_copy_name(ev.vram.device, sizeof(ev.vram.device), device->dev);
	davy_copy_name(ev.vram.cgroup, sizeof(ev.vram.cgroup), account->name);
	ev.vram.used = account->bytes;
	ev.vram.limit = q->high;
	ev.vram.why = DAVY_VRAM_HIGH;
	davy_sensor_say(b, &ev);
}

void davy_bpf_vram_tell_high(struct davy_bpf *b, const struct davy_vram_rules *rules,
			     uint64_t now_ns)
{
	struct davy_vram_device device;
	uint64_t id = 0, reserve;
	struct davy_vram account;

	while (davy_bpf_vram_device(b, &id, &device, &reserve)) {
		for (size_t i = 0; i < rules->quota_count; i++) {
			struct davy_vram_key key = { rules->quota[i].cgroup, id };

			if (!rules->quota[i].high ||
			    bpf_map_lookup_elem(admit_map(b, "vram_accounts"), &key, &account) ||
			    account.bytes <= rules->quota[i].high)
				continue;
			account.name[sizeof(account.name) - 1] = 0;
			high_tell(b, &rules->quota[i], &device, &account, now_ns);
		}
	}
}

bool davy_bpf_vram_refuses(const struct davy_bpf *b)
{
	return b->objects[DAVY_OBJ_ADMIT].state.state == DAVY_SENSOR_LIVE;
}

void davy_bpf_vram_tick(struct davy_bpf *b, uint64_t now_ns)
{
	struct davy_bpf_object *o = &b->objects[DAVY_OBJ_ADMIT];
	uint64_t left_out = o->skipped + b->losses_reported[DAVY_LOSS_MAP_BUSY];

	if (!o->loaded || (left_out == b->vram_left_out && now_ns < b->vram_walked_ns + WALK_NS))
		return;
	b->vram_walked_ns = now_ns;
	if (left_out != b->vram_left_out) /* what is freed may be wiped still: walk soon again */
		b->vram_walked_ns -= WALK_NS - AGAIN_NS;
	b->vram_left_out = left_out;
	davy_bpf_object_iterate(o);
}

bool davy_bpf_vram_device(const struct davy_bpf *b, uint64_t *key,
			  struct davy_vram_device *ret_device, uint64_t *ret_reserve)
{
	int fd = admit_map(b, "vram_devices");
	uint64_t next;

	if (fd < 0 || bpf_map_get_next_key(fd, *key ? key : NULL, &next) ||
	    bpf_map_lookup_elem(fd, &next, ret_device))
		return false;
	ret_device->dev[sizeof(ret_device->dev) - 1] = 0;
	if (bpf_map_lookup_elem(admit_map(b, "vram_reserves"), ret_device->dev, ret_reserve))
		*ret_reserve = 0;
	*key = next;
	return true;
}

bool davy_bpf_vram_next(const struct davy_bpf *b, struct davy_vram_row *row)
{
	static const struct davy_vram_limit none = { DAVY_VRAM_NO_MAX };
	int fd = admit_map(b, "vram_accounts");
	struct davy_vram_device device;
	struct davy_vram_key next;

	if (fd < 0 || bpf_map_get_next_key(fd, row->key.cgroup ? &row->key : NULL, &next) ||
	    bpf_map_lookup_elem(fd, &next, &row->vram))
		return false;
	row->key = next;
	row->device[0] = row->vram.name[sizeof(row->vram.name) - 1] = 0;
	if (!bpf_map_lookup_elem(admit_map(b, "vram_devices"), &next.device, &device))
		davy_copy_name(row->device, sizeof(row->device), device.dev);
	if (bpf_map_lookup_elem(admit_map(b, "vram_limits"), &next.cgroup, &row->limit))
		row->limit = none;
	return true;
}

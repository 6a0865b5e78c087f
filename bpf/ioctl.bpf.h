/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Failed ioctls, judged by userspace's table. Some drivers wrap drm_ioctl() and can fail before it
 * (xe: -ECANCELED for all when wedged; others: the error of the runtime resume). The inner failure
 * leaves a mark, so that the wrapper's exit does not report it again.
 */
#ifndef DAVY_IOCTL_BPF_H
#define DAVY_IOCTL_BPF_H

#include "facts.bpf.h"

#define CREATE_DUMB	      0xb2 /* DRM_IOCTL_MODE_CREATE_DUMB */
#define SYNCOBJ_WAIT	      0xc3
#define SYNCOBJ_TIMELINE_WAIT 0xca

struct ioctl_mark {
	__u64 file;
	__u64 command; /* command number; its error is in the upper half */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DAVY_MAX_VERDICTS);
	__type(key, struct davy_verdict_key);
	__type(value, __u8);
} verdicts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct ioctl_mark);
} ioctl_marks SEC(".maps");

static __always_inline __u8 verdict_of(struct davy_verdict_key *key)
{
	__u8 *v = bpf_map_lookup_elem(&verdicts, key);
	__u32 number;

	if (v)
		return *v;
	number = key->number;
	key->number = DAVY_IOCTL_ANY;
	v = bpf_map_lookup_elem(&verdicts, key);
	if (v)
		return *v;
	__builtin_memset(key->driver, 0, sizeof(key->driver));
	v = bpf_map_lookup_elem(&verdicts, key);
	if (v)
		return *v;
	key->number = number;
	v = bpf_map_lookup_elem(&verdicts, key);
	return v ? *v : DAVY_IOCTL_UNLISTED;
}

static __always_inline struct ioctl_mark mark_of(struct file *filp, unsigned int cmd, int error)
{
	struct ioctl_mark mark = { (__u64)filp, (__u64)(__u32)error << 32 | cmd };

	return mark;
}

static __always_inline void mark_inner(struct file *filp, unsigned int cmd, int error)
{
	struct ioctl_mark mark = mark_of(filp, cmd, error);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	bpf_map_update_elem(&ioctl_marks, &tid, &mark, BPF_ANY);
}

static __always_inline bool was_reported(struct file *filp, unsigned int cmd, int error)
{
	struct ioctl_mark mark = mark_of(filp, cmd, error), *known;
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	bool same;

	known = bpf_map_lookup_elem(&ioctl_marks, &tid);
	if (!known)
		return false;
	same = known->file == mark.file && known->command == mark.command;
	bpf_map_delete_elem(&ioctl_marks, &tid);
	return same;
}

/*
 * Of the DRM core's commands only CREATE_DUMB allocates: mode setting returns -ENOSPC for a bad
 * rectangle.
 */
static __always_inline bool asks_for_memory(__u32 number, bool is_kfd)
{
	return is_kfd || (number >= 0x40 && number < 0xa0) || number == CREATE_DUMB;
}

/* "dev" may be NULL (KFD); "driver" is a kernel address. */
static __always_inline int ioctl_failed(struct device *dev, const char *driver, unsigned int cmd,
					int error)
{
	struct davy_verdict_key judged = { .number = cmd & 0xff, .error = error };
	struct davy_sum_key key = {
		.device = (__u64)dev,
		.pid = davy_current(),
		.detail = cmd & 0xff,
		.error = error,
	};
	__u8 verdict;

	bpf_probe_read_kernel_str(judged.driver, sizeof(judged.driver), driver);
	verdict = verdict_of(&judged);
	if (verdict == DAVY_IOCTL_BENIGN)
		return 0;
	if ((error == -ENOMEM || error == -ENOSPC) && asks_for_memory(cmd & 0xff, !dev)) {
		key.fact = DAVY_FACT_ALLOC_FAILED;
		key.what = DAVY_ALLOC_IOCTL;
	} else {
		key.fact = DAVY_FACT_IOCTL_FAILED;
		key.what = verdict;
	}
	return fact_count(&key, driver, 0, 0);
}

static __always_inline int drm_ioctl_failed(struct file *filp, unsigned int cmd, int error)
{
	struct drm_file *file = BPF_CORE_READ(filp, private_data);
	struct drm_device *dev = BPF_CORE_READ(file, minor, dev);

	return ioctl_failed(BPF_CORE_READ(dev, dev), BPF_CORE_READ(dev, driver, name), cmd, error);
}

/* vkGetFenceStatus and similar: a wait without timeout, which engines call in a loop. */
static __always_inline bool is_waiting(__u32 number, int error)
{
	return error == -ETIME && (number == SYNCOBJ_WAIT || number == SYNCOBJ_TIMELINE_WAIT);
}

static __always_inline int wrapper_done(struct file *filp, unsigned int cmd, long ret)
{
	if (ret >= 0 || ret < -4095 || is_waiting(cmd & 0xff, (int)ret) ||
	    was_reported(filp, cmd, (int)ret))
		return 0;
	return drm_ioctl_failed(filp, cmd, (int)ret);
}

#endif

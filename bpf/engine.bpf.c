/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Uprobes on inference engines: vk:: exceptions when thrown, even if caught, and ggml graph runs.
 * Only plain uprobes: a uretprobe replaces the return address on the stack, and a C++ exception
 * that unwinds through the frame (as vk::DeviceLostError does through
 * ggml_backend_sched_synchronize) ends in std::terminate. The next call of the same thread shows
 * that synchronize has returned: llama.cpp synchronizes several times after each batch and only the
 * first one waits, so the entry of the second is the return of the first. The result of a graph is
 * read by a plain uprobe where the function returns.
 */
#include "wire.h"
#include "maps.bpf.h"
#include "compat.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DAVY_MAX_ENGINES);
	__type(key, __u32);
	__type(value, struct davy_engine_state);
} engines SEC(".maps");

static __always_inline void graph_failed(__u32 tgid, __u32 tid)
{
	struct davy_engine_state *s = bpf_map_lookup_elem(&engines, &tgid);

	if (!s || s->tid != tid || !s->entered_ns)
		return;
	s->entered_ns = 0;
	s->syncs = 0;
	s->failed_count++;
}

/*
 * Reads a name of unknown length, possibly near the end of its mapping. Copies from user memory:
 * libbpf and lockdown=confidentiality permit this helper.
 */
static __always_inline long read_name(char *ret_type, const char *name)
{
	long err = bpf_copy_from_user(ret_type, DAVY_TYPE_NAME_LEN, name);

	if (err)
		err = bpf_copy_from_user(ret_type, DAVY_TYPE_NAME_LEN / 2, name);
	if (err)
		err = bpf_copy_from_user(ret_type, DAVY_TYPE_NAME_LEN / 4, name);
	ret_type[DAVY_TYPE_NAME_LEN - 1] = 0;
	return err;
}

/*
 * __cxa_throw(object, std::type_info *, destructor); type_info: vtable, then const char *name
 * (Itanium C++ ABI 2.9.4). Only exceptions of namespace vk ("N2vk...") are reported.
 */
SEC("?uprobe.s")
int throw_seen(struct pt_regs *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	char type[DAVY_TYPE_NAME_LEN] = {};
	const char *name = 0;
	struct davy_wire_throw *e;

	if (bpf_copy_from_user(&name, sizeof(name), (char *)PT_REGS_PARM2(ctx) + sizeof(void *)))
		return 0;
	if (read_name(type, name))
		return 0;
	if (type[0] != 'N' || type[1] != '2' || type[2] != 'v' || type[3] != 'k')
		return 0;
	graph_failed(id >> 32, (__u32)id);
	e = davy_reserve(DAVY_WIRE_THROW, sizeof(*e));
	if (!e)
		return 0;
	e->tid = (__u32)id;
	__builtin_memcpy(e->type, type, sizeof(type));
	bpf_ringbuf_submit(e, 0);
	return 0;
}

static __always_inline void run_left(struct davy_engine_state *s, __u64 now)
{
	s->last_ns = now - s->first_entered_ns;
	if (s->last_ns > s->max_ns)
		s->max_ns = s->last_ns;
	s->entered_ns = 0;
	s->syncs = 0;
	barrier(); /* the agent looks for new runs by the count */
	s->graph_count++;
}

static __always_inline int entered(__u32 copying)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_boot_ns();
	struct davy_engine_state *s, fresh = {};
	__u32 tgid = id >> 32;

	s = bpf_map_lookup_elem(&engines, &tgid);
	if (!s) {
		fresh.entered_ns = fresh.first_entered_ns = now;
		fresh.tid = (__u32)id;
		fresh.copying = copying;
		bpf_map_update_elem(&engines, &tgid, &fresh, BPF_ANY);
		return 0;
	}
	if (s->entered_ns && s->syncs && s->tid == (__u32)id) {
		run_left(s, now); /* it synchronized once and has continued */
		s->lone_count++;
	}
	if (!s->entered_ns)
		s->first_entered_ns = now;
	s->entered_ns = now;
	s->tid = (__u32)id;
	s->copying = copying;
	s->syncs = 0;
	return 0;
}

/*
 * ggml_backend_tensor_set and _get: inputs of a batch are copied to the device before its graph
 * runs, and a slot's cache is copied back before the next prompt. A hanging device may block there
 * first. Their return is not observed; the synchronizes after each batch end them.
 */
SEC("?uprobe")
int copy_entered(struct pt_regs *ctx)
{
	return entered(1);
}

SEC("?uprobe")
int graph_entered(struct pt_regs *ctx)
{
	return entered(0);
}

/*
 * ggml_backend_sched_graph_compute_async, at its return: enum ggml_status (ggml.h, unchanged since
 * 2023-12). A backend that lost its device returns FAILED at once, for every later graph. A
 * cancelled request (ABORTED) and a graph without memory (ALLOC_FAILED) are no failure of the
 * device.
 */
#define GGML_FAILED  -1
#define GGML_SUCCESS 0

SEC("?uprobe")
int graph_returned(struct pt_regs *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__s32 status = (__s32)PT_REGS_RC(ctx);
	struct davy_engine_state *s;
	__u32 tgid = id >> 32;

	s = bpf_map_lookup_elem(&engines, &tgid);
	if (!s)
		return 0;
	if (status == GGML_SUCCESS) {
		s->failing = 0;
		return 0;
	}
	if (s->tid == (__u32)id) { /* nothing runs on the device */
		s->entered_ns = 0;
		s->syncs = 0;
	}
	if (status == GGML_FAILED) {
		s->failing += s->failing < ~0u;
		s->failed_count++;
	}
	return 0;
}

#define MAX_POSITION (1 << 26) /* tokens */

static __always_inline void count_tokens(__u32 count, __u64 pos)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct davy_engine_state *s, fresh = {};
	__s32 first, last;

	if (!count || count > 1 << 24 || !pos ||
	    bpf_copy_from_user(&first, sizeof(first), (void *)pos) ||
	    bpf_copy_from_user(&last, sizeof(last), (void *)(pos + sizeof(last) * (count - 1))) ||
	    first < 0 || last < 0 || first > MAX_POSITION || last > MAX_POSITION)
		return;
	s = bpf_map_lookup_elem(&engines, &tgid);
	if (!s) {
		bpf_map_update_elem(&engines, &tgid, &fresh, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&engines, &tgid);
	}
	if (!s)
		return;
	s->depth = (__u32)(first > last ? first : last) + 1;
	barrier(); /* the agent looks for new tokens by the counts */
	if (count > 1 && last - first == (__s32)count - 1)
		s->prompt_count += count;
	else
		s->generated_count += count;
}

/*
 * llama_context::process_ubatch(const llama_ubatch &, ...): one computation. The beginning of
 * llama_ubatch is as in llama-batch.h from b5900 (2025-07), which has no n_pos (a gap) and "pos"
 * after "embd". 0.7.0 has "embd_state" between them, which is NULL except for MTP drafts. A value
 * that is no position, such as a float, is too large for one.
 */
struct ubatch_head {
	__u32 b_equal_seqs;
	__u32 n_tokens;
	__u32 n_seq_tokens;
	__u32 n_seqs;
	__u32 n_seqs_unq;
	__u32 n_pos;
	__u64 token;
	__u64 embd;
	__u64 pos_or_state;
	__u64 seqs_or_pos;
};

SEC("?uprobe.s")
int ubatch_entered(struct pt_regs *ctx)
{
	struct ubatch_head u;

	if (bpf_copy_from_user(&u, sizeof(u), (void *)PT_REGS_PARM2(ctx)))
		return 0;
	if (!u.n_seqs || u.n_seqs > u.n_tokens || u.b_equal_seqs > 1 || (!u.token && !u.embd))
		return 0; /* not the expected struct */
	count_tokens(u.n_tokens, u.pos_or_state ? u.pos_or_state : u.seqs_or_pos);
	return 0;
}

/*
 * int llama_decode(struct llama_context *, struct llama_batch), for a libllama without the above.
 * The batch is passed by value: in the System V ABI on the stack, above the return address. Its
 * beginning is that of llama.h from b3900 (2024-10).
 */
struct batch_head {
	__s32 n_tokens;
	__u64 token;
	__u64 embd;
	__u64 pos;
};

SEC("?uprobe.s")
int decode_entered(struct pt_regs *ctx)
{
	struct batch_head b;

	if (!bpf_copy_from_user(&b, sizeof(b), (void *)(PT_REGS_SP(ctx) + sizeof(long))) &&
	    b.n_tokens > 0)
		count_tokens(b.n_tokens, b.pos);
	return 0;
}

SEC("?uprobe")
int graph_synced(struct pt_regs *ctx)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_boot_ns();
	struct davy_engine_state *s;
	__u32 tgid = id >> 32;

	s = bpf_map_lookup_elem(&engines, &tgid);
	if (!s || !s->entered_ns || s->tid != (__u32)id)
		return 0;
	s->syncs++;
	if (s->syncs > 1)
		run_left(s, now);
	return 0;
}

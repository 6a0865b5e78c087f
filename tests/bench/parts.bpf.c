/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs consist of, one part each: the profile of their cost on this machine. Run by
 * hooks.c like them.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct key {
	__u64 one, two;
};

struct value {
	__u64 count[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, struct key);
	__type(value, struct value);
} parts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct key);
	__type(value, struct value);
} recent SEC(".maps");

SEC("raw_tp")
int part_clock(struct bpf_raw_tracepoint_args *ctx)
{
	return (int)bpf_ktime_get_boot_ns();
}

SEC("raw_tp")
int part_read(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)ctx->args[1]);
	return (int)word;
}

SEC("raw_tp")
int part_add(struct bpf_raw_tracepoint_args *ctx)
{
	struct key key = { ctx->args[0], 0 };
	struct value value = {};

	return (int)bpf_map_update_elem(&parts, &key, &value, BPF_ANY);
}

SEC("raw_tp")
int part_lookup(struct bpf_raw_tracepoint_args *ctx)
{
	struct key key = { ctx->args[0], 0 };

	return bpf_map_lookup_elem(&parts, &key) != 0;
}

SEC("raw_tp")
int part_delete(struct bpf_raw_tracepoint_args *ctx)
{
	struct key key = { ctx->args[0], 0 };

	return (int)bpf_map_delete_elem(&parts, &key);
}

SEC("raw_tp")
int part_add_lru(struct bpf_raw_tracepoint_args *ctx)
{
	struct key key = { ctx->args[0], 0 };
	struct value value = {};

	return (int)bpf_map_update_elem(&recent, &key, &value, BPF_ANY);
}

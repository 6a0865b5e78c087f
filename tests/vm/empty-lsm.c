// SPDX-License-Identifier: GPL-2.0
/*
 * empty-lsm: attaches a program that does nothing to the security hook of ioctl(), as the cost that
 * admit.bpf.c is compared with. Prints "attached", and stays until a signal ends it.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_LSM_MAC,
		    .prog_flags = BPF_F_SLEEPABLE);
	int hook = libbpf_find_vmlinux_btf_id("file_ioctl", BPF_LSM_MAC), program;

	opts.attach_btf_id = (__u32)hook;
	program = hook < 0 ? hook
			   : bpf_prog_load(BPF_PROG_TYPE_LSM, "nothing", "GPL", nothing,
					   sizeof(nothing) / sizeof(nothing[0]), &opts);
	if (program < 0 || bpf_raw_tracepoint_open(NULL, program) < 0) {
		fprintf(stderr, "empty-lsm: %s\n", strerror(errno));
		return 1;
	}
	puts("attached");
	fflush(stdout);
	pause();
	return 0;
}

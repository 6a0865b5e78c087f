#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run-vm.sh --kernel DIR --initramfs FILE --script FILE --out DIR [--add TREE] [--qxl VBIOS]
#           [--device QEMU_DEVICE]... [--timeout CPU_SECONDS] [--memory MIB] [--cpus N]
#           [--append KERNEL_OPTIONS] [--host-files]
#
# Boots a kernel of fetch-kernel.sh with the root of mkinitramfs.sh, runs one guest
# script (busybox sh, as /job/run, with TREE's files beside it) and exits with its status.
# --qxl gives the guest a qxl device with that video BIOS, to which amdgpu can be bound; --device any
# other device of QEMU, for its own driver.
# QEMU emulates the guest's CPUs in one thread: with a thread for each, a CPU sometimes runs a breakpoint that
# another has just removed from the kernel's text, and the kernel dies with "Oops: int3" (QEMU 7.2, kernel 7.2:
# in three of three guests within 13 starts of 'davylamp trace discovery'; in one thread, 40 of 40 starts passed).
# --host-files lets the guest mount this host's files, read-only (9p, "host").
# In the --out folder: output.log (the script's output), kernel.log, status.
# Exit: the script's status; 124 on a timeout; 125 when the guest died or nothing could run.
set -eu

die() { echo "run-vm.sh: $*" >&2; exit 125; }

kernel='' initramfs='' script='' out='' add='' qxl='' append=''
timeout=120 memory=1024 cpus=2 devices=(-vga none)
while [ $# -gt 0 ]; do
	case $1 in
	--host-files)
		devices+=(-virtfs local,path=/,mount_tag=host,security_model=passthrough,readonly=on,multidevs=remap)
		shift
		continue
		;;
	esac
	[ $# -gt 1 ] || die "option '$1' needs a value"
	case $1 in
	--kernel) kernel=$2 ;;
	--initramfs) initramfs=$2 ;;
	--script) script=$2 ;;
	--out) out=$2 ;;
	--add) add=$2 ;;
	--qxl) qxl=$2 ;;
	--device) devices+=(-device "$2") ;;
	--timeout) timeout=$2 ;;
	--memory) memory=$2 ;;
	--cpus) cpus=$2 ;;
	--append) append=$2 ;;
	*) die "unknown option '$1'" ;;
	esac
	shift 2
done
if [ -z "$kernel" ] || [ -z "$initramfs" ] || [ -z "$script" ] || [ -z "$out" ]; then
	die "--kernel, --initramfs, --script and --out are needed"
fi
[ -s "$kernel/abi" ] || die "no kernel in '$kernel'; run fetch-kernel.sh"
[ -s "$initramfs" ] || die "no '$initramfs'; run mkinitramfs.sh"
command -v qemu-system-x86_64 >/dev/null || die "install qemu-system-x86"

mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f "$out"/{output.log,kernel.log,status}

# The kernel unpacks archives one after the other: the job is a small second archive.
mkdir -p "$work/tree/job"
[ -z "$add" ] || cp -a "$add/." "$work/tree/job/"
cp "$script" "$work/tree/job/run"
(cd "$work/tree" && find job -print0 | cpio -0 -o -H newc -R 0:0 --quiet) >"$work/job.cpio"
cat "$initramfs" "$work/job.cpio" >"$work/initrd"

[ -z "$qxl" ] || devices+=(-device "qxl,ram_size_mb=256,romfile=$qxl")
# Starved of time, the kernel takes the emulated timer for broken (no_timer_check).
options="console=ttyS0 panic=-1 oops=panic mitigations=off no_timer_check quiet $append"
status=0
# The limit is for the time that the emulation computes; on a busy machine the clock gets six times as long.
(ulimit -t "$timeout" && exec timeout --foreground --kill-after=5 $((6 * timeout)) qemu-system-x86_64 \
	-machine pc -accel tcg,thread=single -cpu max,la57=off -smp "$cpus" -m "$memory" \
	-nodefaults -no-user-config -display none -no-reboot "${devices[@]}" \
	-serial "file:$out/kernel.log" -serial "file:$out/output.log" -serial "file:$out/status" \
	-kernel "$kernel/vmlinux" -initrd "$work/initrd" -append "$options" </dev/null) || status=$?
case $status in
0) ;;
124|137|152) echo "run-vm.sh: no end after $timeout s of the CPU's time; see '$out'" >&2; exit 124 ;;
*) die "qemu failed with status $status" ;;
esac
status=$(tr -d '\r' <"$out/status" | sed -n 's/^exit \([0-9]*\)$/\1/p')
[ -n "$status" ] || die "the guest died before its script ended; see '$out/kernel.log'"
exit "$status"

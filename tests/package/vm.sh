# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# A guest with the kernel of Debian 12, amdgpu's module, this host's files (vm/guest/host-init.sh), and the unit of the
# package as it is installed: the agent attaches its BPF programs there. Sourced by tests/package/run.
vm_kernel=6.1

# Why no guest can run on this host; empty if one can.
vm_missing() {
	if ! command -v qemu-system-x86_64 >/dev/null; then
		echo "qemu-system-x86 is not installed"
	elif ! tests/vm/fetch-kernel.sh $vm_kernel "$CACHE/kernel" >"$O/log/package-kernel.log" 2>&1; then
		echo "the guest's kernel is not available (out/log/package-kernel.log)"
	fi
}

vm_life() {
	local status=0
	package_lab /tmp/job
	lab_units=$work/unit
	printf 'Wants=job.service\n' >>"$work/unit/lab.target"
	lab_unit job "/bin/sh -c 'bash /tmp/job/run >/dev/ttyS1 2>&1; echo exit \$? >/dev/ttyS2; sync; echo o >/proc/sysrq-trigger'" \
		"WorkingDirectory=$PWD" "Environment=HOME=/tmp O=$O CACHE=$CACHE STAGE=$STAGE"
	mkdir -p "$work/init/lab" "$work/job"
	cp tests/vm/guest/host-init.sh "$work/init/lab/"
	cp -r "$work/unit" "$work/first.deb" "$work/next.deb" "$work/job/"
	tests/vm/mkinitramfs.sh --kernel "$CACHE/kernel/$vm_kernel" --out "$work/initramfs" --add "$work/init" \
		--module virtio_pci --module 9pnet_virtio --module 9p --module overlay --module amdgpu
	out=$O/package-vm
	tests/vm/run-vm.sh --kernel "$CACHE/kernel/$vm_kernel" --initramfs "$work/initramfs" --host-files \
		--add "$work/job" --script tests/package/guest.sh --out "$out" --memory 4096 --timeout 900 \
		--append rdinit=/lab/host-init.sh || status=$?
	[[ $status -le 1 ]] || dead_guest "$status"
	count_guest
	lab_close
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mkinitramfs.sh --kernel DIR --out FILE [--module NAME]... [--optional NAME]...
#                [--strip-btf NAME]... [--add TREE]...
#
# Builds the guest's root: busybox, kernel modules with their dependencies, and whole folders copied
# over it. DIR is the output of fetch-kernel.sh. Each --module is a name that modprobe knows
# (amdgpu, i915, ...), --optional one that some kernels lack. --strip-btf puts a copy of a
# module's file (gpu-sched, as Debian writes it) without its type information in /lab. Each TREE's
# contents are copied to the guest's /; a dynamically linked program needs its shared libraries in the
# TREE. Nothing is packed: unpacking under emulation is slow.
set -eu

die() { echo "mkinitramfs.sh: $*" >&2; exit 1; }

here=$(cd "$(dirname "$0")" && pwd)
kernel='' out='' modules=() optional=() trees=() strip=()
while [ $# -gt 1 ]; do
	case $1 in
	--kernel) kernel=$2 ;;
	--out) out=$2 ;;
	--module) modules+=("$2") ;;
	--optional) optional+=("$2") ;;
	--strip-btf) strip+=("$2") ;;
	--add) trees+=("$2") ;;
	*) die "unknown option '$1'" ;;
	esac
	shift 2
done
[ $# -eq 0 ] || die "option '$1' needs a value"
if [ -z "$kernel" ] || [ -z "$out" ]; then
	die "--kernel and --out are needed"
fi
[ -s "$kernel/abi" ] || die "no kernel in '$kernel'; run fetch-kernel.sh"
for tool in busybox cpio modprobe depmod xz; do
	command -v $tool >/dev/null ||
		die "'$tool' is missing; install busybox-static cpio kmod xz-utils"
done

abi=$(cat "$kernel/abi")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{bin,dev,etc,lib,proc,root,run,sys,tmp,job}
ln -s bin "$tree/sbin"
cp "$(command -v busybox)" "$tree/bin/busybox"
"$tree/bin/busybox" --list | while read -r applet; do
	[ -e "$tree/bin/$applet" ] || ln -s busybox "$tree/bin/$applet"
done
install -m 0755 "$here/guest/init.sh" "$tree/init"

# slim MODULE: without the symbols of data and of padding before functions. ftrace looks for the name of each
# of a module's functions among all of the module's symbols (ftrace_module_enable, 6.1 to 7.2), which takes half
# a minute of an emulated CPU with amdgpu. A small module keeps its signature, which the kernel's lockdown needs.
slim() {
	[ "$(stat -c %s "$1")" -gt 2097152 ] || return 0
	nm "$1" | awk 'NF == 3 && $2 !~ /^[bdr]$/ && $3 !~ /^__pfx_/ { print $3 }' >"$tree/keep"
	objcopy --strip-unneeded --keep-symbols="$tree/keep" "$1"
	rm "$tree/keep"
}

# Modules: unpacked here, once, since the guest needs seconds for it.
from=$kernel/root
mkdir -p "$tree/lib/modules/$abi"
cp "$from/lib/modules/$abi"/modules.{builtin,builtin.modinfo,order} "$tree/lib/modules/$abi/"
for module in "${optional[@]}"; do
	! modprobe -d "$from" -S "$abi" --show-depends "$module" >/dev/null 2>&1 ||
		modules+=("$module")
done
for module in "${modules[@]}"; do
	modprobe -d "$from" -S "$abi" --show-depends "$module" >"$tree/depends" ||
		die "kernel '$abi' has no module '$module'"
	sed -n 's/^insmod \([^ ]*\).*/\1/p' "$tree/depends"
done | sort -u | while read -r file; do
	to=$tree/lib/modules/$abi/${file#*"/lib/modules/$abi/"}
	mkdir -p "${to%/*}"
	case $file in
	*.xz) xz -dc "$file" >"${to%.xz}" ;;
	*) cp "$file" "$to" ;;
	esac
	slim "${to%.xz}"
done
rm -f "$tree/depends"
for module in "${strip[@]}"; do
	mkdir -p "$tree/lab"
	find "$tree/lib/modules" -name "$module.ko" -exec \
		objcopy --remove-section=.BTF {} "$tree/lab/$module.ko" \;
	[ -s "$tree/lab/$module.ko" ] || die "no module '$module' to strip"
done
depmod -b "$tree" "$abi"

for add in "${trees[@]}"; do
	cp -a --remove-destination "$add/." "$tree/" # do not follow a link to busybox
done
chmod 0755 "$tree" # independent of the last TREE's mode: other users need access
mkdir -p "$(dirname "$out")"
(cd "$tree" && find . -print0 | cpio -0 -o -H newc -R 0:0 --quiet) >"$out.new"
mv "$out.new" "$out"

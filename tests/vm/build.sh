#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh SERIES CACHE_DIR BUILD_DIR
#
# Builds everything that run-vm.sh needs for one kernel series: the kernel (fetched if it is
# not in the cache), the tools, and BUILD_DIR/SERIES/{initramfs,vbios.bin}. In the guest the
# tools are in /lab: fire, gpu-client, vram-client, empty-lsm, davylamp-inject.ko, nvidia.ko, lab.sh, facts.sh, kfd.sh, vram.sh.
set -eu

die() { echo "build.sh: $*" >&2; exit 1; }

[ $# -eq 3 ] || die "usage: build.sh SERIES CACHE_DIR BUILD_DIR"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$3/$1"
build=$(cd "$3/$1" && pwd)
kernel=$("$here/fetch-kernel.sh" "$1" "$2")
flags="-std=gnu17 -D_GNU_SOURCE -O2 -Wall -Wextra -Wshadow -Wconversion -Wformat=2
	-Wvla -Wundef -Werror"
drm=$(pkg-config --cflags libdrm) || die "libdrm's headers are missing; install libdrm-dev"

# The flags are split into words, so they are not quoted.
# shellcheck disable=SC2086
{
	gcc $flags -o "$build/mkvbios" "$here/mkvbios.c"
	mkdir -p "$build/root/lab"
	gcc $flags $drm -static -o "$build/root/lab/gpu-client" "$here/gpu-client.c"
	gcc $flags $drm -static -o "$build/root/lab/ttm-client" "$here/ttm-client.c"
	gcc $flags $drm -static -no-pie -pthread -o "$build/root/lab/vram-client" "$here"/vram-{client,attack}.c
	gcc $flags -static -o "$build/root/lab/empty-lsm" "$here/empty-lsm.c" -lbpf -lelf -lz &&
		gcc $flags -static -o "$build/root/lab/fire" "$here"/fire/*.c -lbpf -lelf -lz ||
		die "fire does not build; install libbpf-dev libelf-dev zlib1g-dev"
}
make -s -f "$here/inject/Makefile" KERNEL="$kernel" BUILD="$build/inject"
cp "$build"/inject/{davylamp-inject,nvidia}.ko "$here"/guest/{lab,facts,kfd,vram}.sh "$build/root/lab/"
"$build/mkvbios" "$build/gpu"
cp "$build/gpu/vbios.bin" "$build/vbios.bin"
cp -a "$build/gpu/lib" "$build/root/"
"$here/mkinitramfs.sh" --kernel "$kernel" --out "$build/initramfs" --add "$build/root" \
	--module amdgpu --optional i915 --optional qxl --module vgem --optional xe
echo "$build"

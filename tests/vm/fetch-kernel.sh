#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fetch-kernel.sh SERIES CACHE_DIR
#
# Unpacks the newest Debian kernel of a series, with the headers to build modules for it, into
# CACHE_DIR/SERIES: nothing is installed. The packages come from the system's own apt sources, or,
# for a series that only Debian's development suite has, from the same mirror under a private apt
# configuration. "dmem" is a kernel with CONFIG_CGROUP_DMEM, which Debian's do not set: build-dmem-kernel.sh makes it.
# Result: root/ (the unpacked packages), vmlinux (the kernel, uncompressed) and abi (its version string). A second run
# finds "abi" and does nothing; remove the folder to fetch again.
set -euo pipefail

die() { echo "fetch-kernel.sh: $*" >&2; exit 1; }

[ $# -eq 2 ] || die "usage: fetch-kernel.sh SERIES CACHE_DIR (SERIES is 6.1, 6.12, 7.2 or dmem)"
series=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)/$series

# One row per series: the names of its image packages, and the suite if it is not one of
# the system's own. The newest package is used; the headers' dependencies name the others.
suite=''
case $series in
6.1)	images='^linux-image-6\.1\.0-[0-9]+-amd64$' ;;
6.12)	images='^linux-image-6\.12\.[0-9]+\+deb[0-9]+-amd64$' ;;
7.2)	images='^linux-image-7\.2\.[0-9]+\+deb[0-9]+-amd64$' suite=sid ;;
dmem)	images='' ;;
*)	die "series '$series' is not known; known: 6.1, 6.12, 7.2, dmem" ;;
esac

if [ -s "$dir/abi" ]; then
	echo "$dir"
	exit 0
fi
for tool in apt-get apt-cache dpkg-deb depmod; do
	command -v $tool >/dev/null || die "'$tool' is missing; install apt, dpkg and kmod"
done

. "$(dirname "$0")/../apt.sh"

use_suite() {
	apt_use_suite "$dir/apt" "$1" has_image && return
	[ ! -s "$dir/apt/log" ] || sed 's/^/    /' "$dir/apt/log" >&2
	die "no mirror of the system's apt sources has '$images' in suite '$1'"
}

has_image() { [ -n "$(newest_image)" ]; }

newest_image() {
	apt-cache "${apt_options[@]}" search --names-only "$images" | cut -d' ' -f1 | sort -V |
		tail -n 1
}

# needs PACKAGE PATTERN: its dependencies that match.
needs() {
	apt-cache "${apt_options[@]}" depends --important "$1" | sed -n "s/^[ |]*Depends: \($2\)$/\1/p"
}

download() {
	(cd "$dir/debs" && apt-get "${apt_options[@]}" download "$@" >&2) ||
		die "the download failed; run 'apt-get update' and try again"
}

# Unpacks the downloaded packages.
unpack() {
	local deb

	for deb in "$dir"/debs/*.deb; do
		dpkg-deb -x "$deb" "$1"
		rm "$deb"
	done
}

# The headers' programs (objtool, modpost, ...) need the libraries of their suite, which may
# be newer than the system's: that suite's loader starts each of them.
wrap_programs() {
	local libs=$dir/libs/usr/lib/x86_64-linux-gnu program

	find "$dir"/root/usr/lib/linux-kbuild-* -type f -perm /111 | while read -r program; do
		[ "$(head -c 4 "$program")" = $'\177ELF' ] || continue
		mv "$program" "$program.elf"
		cat >"$program" <<-END
			#!/bin/sh
			exec "$libs/ld-linux-x86-64.so.2" --argv0 "\$0" \\
				--library-path "$libs" "\$0.elf" "\$@"
		END
		chmod 0755 "$program"
	done
}

# Sets abi, and fills debs.
take_packages() {
	local packages
	packages=$("$(dirname "$0")/build-dmem-kernel.sh" --find "$(dirname "$dir")") ||
		die "the kernel is not built; 'make dmem-kernel' builds it"
	abi=$(basename "$packages"/linux-image-*.deb)
	abi=${abi#linux-image-} abi=${abi%%_*}
	cp "$packages"/linux-{image,headers}-"$abi"_*.deb "$dir/debs/" || die "'$packages' has no kernel"
}

fetch_packages() {
	local image headers more parts
	[ -z "$suite" ] || use_suite "$suite"
	image=$(newest_image)
	if [ -z "$image" ] && [ "$(id -u)" = 0 ] && [ -z "$suite" ]; then
		apt-get "${apt_options[@]}" update >&2 || true # a fresh system has no lists yet
		image=$(newest_image)
	fi
	[ -n "$image" ] || die "apt knows no package '$images'; run 'apt-get update' and try again"
	abi=${image#linux-image-}
	headers=linux-headers-$abi
	more=$(needs "$headers" 'linux-\(headers\|kbuild\)-.*')
	[ -n "$more" ] || die "apt knows no package '$headers'; run 'apt-get update' and try again"
	# An image may be an empty package in front of these.
	parts=$(needs "$image" "linux-\(base\|binary\|modules\)-.*")

	# The lists are split into words: one package name per word.
	# shellcheck disable=SC2086
	download "$image" "$headers" $more $parts
}

rm -rf "$dir"
mkdir -p "$dir/debs" "$dir/root"
if [ "$series" = dmem ]; then
	take_packages
else
	fetch_packages
fi
unpack "$dir/root"
if [ -n "$suite" ]; then
	# The libraries of the programs, and their dependencies.
	# shellcheck disable=SC2086
	download libc6 libelf1t64 libssl3t64 libzstd1 zlib1g
	unpack "$dir/libs"
	wrap_programs
fi
rm -rf "$dir/debs" "$dir/apt"
[ -e "$dir/root/lib" ] || ln -s usr/lib "$dir/root/lib"

# The headers' makefiles use absolute paths in /usr/src and /usr/lib: replace them by the cache.
find "$dir/root/usr/src" -maxdepth 2 -name Makefile -exec \
	sed -i "s|\([^[:alnum:]_./-]\)/usr/src/|\1$dir/root/usr/src/|g" {} +
depmod -b "$dir/root" "$abi"

# A kernel that unpacks itself under emulation costs 4 s at every boot, so it is unpacked here once.
# The image's header has the place of the packed kernel (Documentation/x86/boot.rst: setup_sects,
# payload_offset, payload_length); its size follows it in 4 bytes.
vmlinuz=$dir/root/boot/vmlinuz-$abi
[ -e "$vmlinuz" ] || vmlinuz=$dir/root/lib/modules/$abi/vmlinuz
[ -e "$vmlinuz" ] || die "the image package holds no kernel, neither in /boot nor in /lib/modules"
number() { od -An -v -t "u$2" -j "$1" -N "$2" "$vmlinuz" | tr -d ' '; }
unpack_kernel() {
	local start unpack
	start=$(((($(number 497 1) + 1) * 512) + $(number 584 4)))
	case $(od -An -v -t x1 -j $start -N 4 "$vmlinuz" | tr -d ' ') in
	fd377a58) unpack=xz ;;
	28b52ffd) unpack=zstd ;;
	*) die "'$vmlinuz' is packed in an unknown way" ;;
	esac
	command -v $unpack >/dev/null || die "'$unpack' is missing; install it"
	dd if="$vmlinuz" bs=1M iflag=skip_bytes,count_bytes skip=$start count=$(($(number 588 4) - 4)) \
		status=none | $unpack -dc >"$dir/vmlinux"
}
if [ "$series" = dmem ]; then
	cp "$vmlinuz" "$dir/vmlinux" # without CONFIG_PVH, QEMU starts only the packed form
else
	unpack_kernel
fi
echo "$abi" >"$dir/abi.new"
mv "$dir/abi.new" "$dir/abi"
echo "$dir"

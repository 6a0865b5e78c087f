#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fetch-kernel.sh SERIES CACHE_DIR
#
# Puts the newest Debian kernel of a series, with the headers to build modules for it, into
# CACHE_DIR/SERIES: nothing is installed. The packages come from the system's own apt sources.
# Left there: root/ (the unpacked packages), vmlinux (the kernel, uncompressed) and abi (its
# version string). A second run finds "abi" and does nothing; remove the folder to fetch again.
set -euo pipefail

die() { echo "fetch-kernel.sh: $*" >&2; exit 1; }

[ $# -eq 2 ] || die "usage: fetch-kernel.sh SERIES CACHE_DIR (SERIES is 6.1)"
series=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)/$series

# One row per series: the names its image packages have. The newest one is taken; the
# headers' own dependencies name the rest.
case $series in
6.1)	images='^linux-image-6\.1\.0-[0-9]+-amd64$' ;;
*)	die "series '$series' is not known; known: 6.1" ;;
esac

if [ -s "$dir/abi" ]; then
	echo "$dir"
	exit 0
fi
for tool in apt-get apt-cache dpkg-deb depmod; do
	command -v $tool >/dev/null || die "'$tool' is missing; install apt, dpkg and kmod"
done

image=$(apt-cache search --names-only "$images" | cut -d' ' -f1 | sort -V | tail -n 1)
[ -n "$image" ] || die "apt knows no package '$images'; run 'apt-get update' and try again"
abi=${image#linux-image-}
headers=linux-headers-$abi
more=$(apt-cache depends --important "$headers" |
	sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\)-.*\)$/\1/p')
[ -n "$more" ] || die "apt knows no package '$headers'; run 'apt-get update' and try again"

rm -rf "$dir"
mkdir -p "$dir/debs" "$dir/root"
# The word splitting of $more is wanted: one package name per word.
# shellcheck disable=SC2086
(cd "$dir/debs" && apt-get download -q -o APT::Sandbox::User=root "$image" "$headers" $more >&2) ||
	die "the download failed; run 'apt-get update' and try again"
for deb in "$dir"/debs/*.deb; do
	dpkg-deb -x "$deb" "$dir/root"
done
rm -rf "$dir/debs"

# The headers' makefiles name /usr/src and /usr/lib absolutely: lead them to the cache.
find "$dir/root/usr/src" -maxdepth 2 -name Makefile -exec \
	sed -i "s|\([^[:alnum:]_./-]\)/usr/src/|\1$dir/root/usr/src/|g" {} +
depmod -b "$dir/root" "$abi"

# A kernel that unpacks itself under emulation costs 4 s at every boot, so it is done here, once.
# The image's header says where the packed kernel lies (Documentation/x86/boot.rst: setup_sects,
# payload_offset, payload_length); its size follows it in 4 bytes.
vmlinuz=$dir/root/boot/vmlinuz-$abi
[ -e "$vmlinuz" ] || die "the image package holds no boot/vmlinuz-$abi"
number() { od -An -v -t "u$2" -j "$1" -N "$2" "$vmlinuz" | tr -d ' '; }
start=$(((($(number 497 1) + 1) * 512) + $(number 584 4)))
case $(od -An -v -t x1 -j $start -N 4 "$vmlinuz" | tr -d ' ') in
fd377a58) unpack=xz ;;
28b52ffd) unpack=zstd ;;
1f8b*) unpack=gzip ;;
*) die "'$vmlinuz' is packed in an unknown way" ;;
esac
command -v $unpack >/dev/null || die "'$unpack' is missing; install it"
dd if="$vmlinuz" bs=1M iflag=skip_bytes,count_bytes skip=$start count=$(($(number 588 4) - 4)) \
	status=none | $unpack -dc >"$dir/vmlinux"
echo "$abi" >"$dir/abi.new"
mv "$dir/abi.new" "$dir/abi"
echo "$dir"

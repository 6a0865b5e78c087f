#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fetch-packages.sh CACHE_DIR NAME PROGRAM PACKAGE...: unpacks Debian packages into CACHE_DIR/NAME, which then has
# PROGRAM. Nothing is installed: their services would listen on this host or change its network. A second run does
# nothing.
set -euo pipefail
dir=$1/$2 program=$3
[[ ! -x $dir/$program ]] || exit 0
. "$(dirname "$0")/apt.sh"

mkdir -p "$1"
work=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$work"' EXIT
packages=("${@:4}")
download() { (cd "$work" && apt-get "${apt_options[@]}" download "${packages[@]}" >&2); }
if ! download && [[ $(id -u) == 0 ]]; then
	apt-get "${apt_options[@]}" update >&2 # a fresh system has no lists
	download
fi
for deb in "$work"/*.deb; do
	dpkg-deb -x "$deb" "$work/root"
done
[[ -x $work/root/$program ]]
rm -rf "$dir"
mv "$work/root" "$dir"

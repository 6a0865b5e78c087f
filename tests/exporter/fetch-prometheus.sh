#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fetch-prometheus.sh CACHE_DIR: unpacks Debian's package prometheus (with promtool) into CACHE_DIR/prometheus. Nothing is
# installed: the package would start a server on all addresses of the host. The programs need only libc. A second
# run does nothing.
set -euo pipefail
dir=$1/prometheus
[[ ! -x $dir/usr/bin/prometheus || ! -x $dir/usr/bin/promtool ]] || exit 0
. "$(dirname "$0")/../apt.sh"

mkdir -p "$1"
work=$(mktemp -d "$1/prometheus.XXXXXX")
trap 'rm -rf "$work"' EXIT
download() { (cd "$work" && apt-get "${apt_options[@]}" download prometheus >&2); }
if ! download && [[ $(id -u) == 0 ]]; then
	apt-get "${apt_options[@]}" update >&2 # a fresh system has no lists
	download
fi
dpkg-deb -x "$work"/prometheus_*.deb "$work/root"
rm -rf "$dir"
mv "$work/root" "$dir"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
#   lab-place.sh NAME FILE...    copies the files to LAB_ROOT/srv/lab/NAME and prints that folder's
#                                path inside the root
#   lab-place.sh --remove NAME   removes the folder
#
# All files of tests in the root are below /srv/lab; the rest of the root stays as fetched.
# Each test uses a different NAME. The folder "shaders" is kept: lavapipe's compiled shaders.

set -eu

die() { echo "lab-place: $*" >&2; exit 1; }

: "${LAB_ROOT:?is not set; it names the root that fetch-root.sh made}"
lab="$LAB_ROOT/srv/lab"
remove=no
if [[ ${1-} == --remove ]]; then
	remove=yes
	shift
fi
[[ $# -ge 1 && $1 =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] ||
	{ echo "usage: lab-place.sh [--remove] NAME [FILE...]" >&2; exit 2; }
name=$1
shift
[[ -d $lab ]] || die "'$LAB_ROOT' holds no /srv/lab; make the root with fetch-root.sh"
if [[ $remove == yes ]]; then
	rm -rf "${lab:?}/$name"
	exit
fi
mkdir -p "$lab/shaders" "$lab/$name"
[[ $# == 0 ]] || cp --reflink=auto -- "$@" "$lab/$name/" || die "cannot copy to '$lab/$name'"
echo "/srv/lab/$name"

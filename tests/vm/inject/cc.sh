#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The compiler for a module whose kernel was built by a newer gcc than this system's: a flag that
# only the newer one knows is turned into the older name of the same.
set -eu
args=()
for arg in "$@"; do
	case $arg in
	-fmin-function-alignment=*) args+=("-falign-functions=${arg#*=}") ;;
	*) args+=("$arg") ;;
	esac
done
exec gcc "${args[@]}"

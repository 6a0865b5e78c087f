#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
#   set-fault.sh FILE RULE...   writes the words of RULE to the fault layer's control file
#
# By rename, so that the layer sees every change, and never a partial rule.

set -eu

[[ $# -ge 2 ]] || { echo "usage: set-fault.sh FILE RULE..." >&2; exit 2; }
file=$1
shift
echo "$*" >"$file.new"
mv "$file.new" "$file"

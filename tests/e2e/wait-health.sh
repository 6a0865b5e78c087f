#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
#   wait-health.sh URL SECONDS [PID]
#
# Waits until URL/health answers 200. Exit status: 0 it answers, 1 timeout, 3 the process PID has
# ended (or is a zombie) before. Prints the elapsed milliseconds.

set -eu

[[ $# == 2 || $# == 3 ]] || { echo "usage: wait-health.sh URL SECONDS [PID]" >&2; exit 2; }
url=$1 limit_ms=$(($2 * 1000)) pid=${3-}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

alive() {
	local stat

	[[ -n $pid ]] || return 0
	stat=$(cat "/proc/$pid/stat" 2>/dev/null) || return 1
	# The state follows the last ')': the name before it may contain any character.
	stat=${stat##*) }
	[[ ${stat:0:1} != [ZX] ]]
}

start_ms=$(now_ms)
while :; do
	code=$(curl -s -m 2 -o /dev/null -w '%{http_code}' "$url/health") || true
	spent_ms=$(($(now_ms) - start_ms))
	if [[ $code == 200 ]]; then
		echo "$spent_ms"
		exit 0
	fi
	alive || { echo "wait-health: process $pid has ended after $spent_ms ms" >&2; exit 3; }
	if ((spent_ms >= limit_ms)); then
		echo "wait-health: no answer 200 from $url within $2 s (last: $code)" >&2
		exit 1
	fi
	sleep 0.05
done

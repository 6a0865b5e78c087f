#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Wake-ups of an idle agent, in a separate PID namespace, where it finds no processes of the host, and
# without BPF, which would report each program that the host starts. Counts with shell builtins only.
# Prints "SWITCHES SECONDS" for each try; exits with 0 when one try has at most one per second.
program=$1
work=$2
# Context switches of all processes and threads of the agent.
count_switches() {
	local status key value name
	switches=0
	for status in /proc/[0-9]*/task/*/status; do
		while read -r key value; do
			case $key in
			Name:) name=$value ;;
			voluntary_ctxt_switches:) [[ $name != davylamp* ]] || switches=$((switches + value)) ;;
			esac
		done 2>/dev/null <"$status"
	done
}
mkfifo "$work/never"
exec 9<>"$work/never"
setpriv --bounding-set -sys_admin,-bpf,-perfmon "$program" run --json --mode observe \
	--socket "$work/idle.sock" --state "$work/idle" --config "$work" >"$work/idle.out" 2>"$work/idle.err" &
agent=$!
status=1
for _ in 1 2 3 4 5 6; do
	read -r -t 12 -u 9
	count_switches
	before=$switches
	began=$SECONDS
	read -r -t 12 -u 9
	count_switches
	echo "$((switches - before)) $((SECONDS - began))"
	[[ $before -gt 0 && $((switches - before)) -le $((SECONDS - began)) ]] || continue
	status=0
	break
done
kill $agent
wait $agent || status=1
exit $status

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# A systemd of this host's files in its own namespaces, with llama-server as a service: for tests/systemd and
# tests/package. Sourced after tests/lib.sh; $sock names the agent's socket, "dl" runs davylamp inside.
. tests/systemd/units.sh
export LAB_ROOT=$CACHE/engine-root
llama="/usr/bin/env LAB_ROOT=$LAB_ROOT $PWD/tests/e2e/llama-server"

# Why the lab cannot be used on this host; empty if it can.
lab_missing() {
	if [[ $(id -u) != 0 ]]; then
		echo "it needs root, for namespaces"
	elif ! command -v systemctl >/dev/null; then
		echo "systemd is not installed"
	elif ! "$PWD/tests/e2e/fetch-root.sh" "$CACHE" >"$O/log/$1-root.log" 2>&1; then
		echo "llama-server is not available (out/log/$1-root.log)"
	fi
}

# lab_open NAME: the folders, the model and the units llama, flags and so on.
lab_open() {
	work=$(mktemp -d)
	[[ -e $O/lab/tiny.gguf ]] || "$O/lab/mkmodel" -o "$O/lab/tiny.gguf" >/dev/null
	place=$(tests/e2e/lab-place.sh "$1-$$" "$O/lab/tiny.gguf")
	trap lab_close EXIT
	mkdir "$work/over" "$work/unit" "$work/lab"
	: >"$work/console"
	lab_router="$llama --models-dir $place --host 127.0.0.1 --port 18305 -t 1 -c 512"
	lab_units "$work/unit" "$llama -m $place/tiny.gguf"
}

# lab_boot DIR...: false if systemd does not run; $work/made is missing if the host does not allow it. DIRs are bound.
lab_boot() {
	group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/davylamp-test-$$
	mkdir "$group" || return 1
	(
		echo 0 >"$group/cgroup.procs"
		exec unshare -m -p -f -i -u -C -n --kill-child=KILL "$PWD/tests/systemd/boot.sh" "$work" "$PWD" \
			"$CACHE" "$@" </dev/null >"$work/boot.log" 2>&1
	) &
	unshare=$!
	until_true 10 find_init && until_true 20 inside test -S /run/systemd/private
}

# After lab_boot has failed: a skip or a failed check.
lab_not_booted() {
	if [[ ! -e $work/made ]]; then # a chroot or a container without the right
		skip "everything" "root in separate namespaces is not possible here ($(tail -n 1 "$work/boot.log" 2>&1))"
	else
		cat "$work/boot.log" "$work/console"
		check "a systemd in separate namespaces boots" false
	fi
}

# Without pgrep: it reads the command lines of all processes and would hang with one that hangs.
find_init() {
	init=$(cut -d' ' -f1 "/proc/$unshare/task/$unshare/children" 2>/dev/null)
	[[ $init && $(cat "/proc/$init/comm") == systemd ]]
}

inside() { nsenter -t "$init" -m -p -C -i -u -n -r -w "$@"; }

lab_close() {
	[[ ! ${init-} ]] || kill -CONT "$init" 2>/dev/null
	[[ ! ${unshare-} ]] || kill -9 "$unshare" 2>/dev/null
	wait 2>/dev/null
	sleep 0.2
	[[ ! ${group-} ]] || find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
	"$PWD/tests/e2e/lab-place.sh" --remove "${place##*/}"
	rm -rf "$work"
}

ask() { echo "$1" | inside "$(realpath "$O/systemd/send")" $sock 120000; }
order() { ask "$1" | tee "$work/answer" | jq -es 'any(.op == "ordered" and .failed == false)' >/dev/null; }
order_fails() { ask "$1" | tee "$work/answer" | jq -es 'any(.failed == true)' >/dev/null; }
adopt() { dl policy adopt --socket $sock "$1" >"$work/said" 2>&1; }
release() { dl policy release --socket $sock "$1" >"$work/said" 2>&1; }
adopted() { dl policy adopted --socket $sock --json | jq -e "select(.unit == \"$1.service\") | $2" >/dev/null; }
workload() { dl policy adopted --socket $sock --json | jq "select(.unit == \"$1.service\") | .workload"; }
main_pid() { inside systemctl show -P MainPID "$1"; }
is() { [[ $(inside systemctl is-active "$1") == "$2" ]]; }
environment() { inside cat "/proc/$(main_pid "$1")/environ" | tr '\0' '\n'; }
told() { environment "$1" | grep -qx "$2"; }
healthy() { [[ $(inside curl -s -o /dev/null -m 2 -w '%{http_code}' "http://127.0.0.1:$1") == 200 ]]; }
env_file() { inside cat "$state/units/$1.service.env"; }

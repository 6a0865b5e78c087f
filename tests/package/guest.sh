#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# guest.sh: the life of the package in the guest of tests/package/vm.sh, with the source's folder of the host. The
# installed unit runs there without any change of its restrictions, and its programs are attached to a real amdgpu.
. tests/lib.sh
. tests/systemd/lib.sh
. tests/package/cases.sh
service=ollama kind=ollama health=18303/api/version on_cpu=OLLAMA_LLM_LIBRARY=cpu
work=/tmp/job
group=/sys/fs/cgroup
inside() { "$@"; }

on_installed() {
	check "the agent of the installed unit reads the events of amdgpu, under all of the unit's restrictions" until_true 20 \
		eval 'dl status --json | jq -e "any(.sensors[]; .name == \"amdgpu\" and .state == \"live\")" >/dev/null'
}

# Lavapipe needs minutes for each start on an emulated CPU: the service is tests/systemd/ollama.c, and root orders the move.
case_act() {
	enforce
	check "the agent recognises the service's engine" until_true 20 adopted $service '.engine == "ollama" and .pid > 0'
	check "a crash is followed by a restart" crash
	until_true 20 adopted $service '.state == "active" and .workload > 0'
	check "the engine can be moved to the CPU" said dl act migrate_cpu "$(workload $service)"
	check "the moved engine uses no GPU" told $service $on_cpu
	check "the moved engine answers" until_true 20 healthy $health
}

mkdir -p /lab /run/models
cp "$O/systemd/ollama" /lab/ollama
echo '{"parameters":{"num_batch":512}}' >/run/models/tiny:latest.json
rm -f /usr/sbin/policy-rc.d # a container's: it would keep all services from starting
all_cases
check "no BUG and no WARNING is in the kernel's log" not grep -E 'BUG:|WARNING:|Oops|Call Trace|general protection' <(dmesg)
echo "== agent.err"
cat $work/agent.err
echo "== end"
[[ $failed -eq 0 ]]

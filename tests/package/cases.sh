# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The life of the Debian package on a host. Sourced by tests/package/run, and in the guest by guest.sh.

# The adopted service, its engine, what answers if it serves, and its variable on the CPU. guest.sh has another one.
service=llama kind=llama-server health=18301/health on_cpu=LLAMA_ARG_DEVICE=none
sock=/run/davylamp/agent.sock
state=/var/lib/davylamp

dl() { inside /usr/sbin/davylamp "$@"; }
on_failure() {
	tail -n 15 "$work/said"
	[[ ! ${init-} ]] || tail -n 12 "$work/agent.err" "$work/console"
}
said() { "$@" >"$work/said" 2>&1; }

# package_lab WHERE LINE...: units, model and packages; the agent's unit writes to the folder WHERE ("": $work, which is
# made here) and has these lines.
package_lab() {
	local where=$1
	shift
	lab_open package
	where=${where:-$work}
	mkdir "$work/unit/davylamp.service.d"
	printf '%s\n' '[Unit]' DefaultDependencies=no '[Service]' "StandardError=append:$where/agent.err" \
		"StandardOutput=append:$where/agent.out" "$@" >"$work/unit/davylamp.service.d/lab.conf"
	mkdir "$work/unit/llama.service.d"
	printf '%s\n' '[Service]' 'Environment=GGML_VK_VISIBLE_DEVICES=0 MESA_SHADER_CACHE_DIR=/srv/lab/shaders' \
		>"$work/unit/llama.service.d/lab.conf"
	cp "$deb" "$work/first.deb"
	cp "$next" "$work/next.deb"
}

# The installed unit with the changes that namespaces need: see tests/systemd/run.
namespaces_boot() {
	package_lab "" "CapabilityBoundingSet=~CAP_BPF CAP_PERFMON CAP_SYS_ADMIN"
	cp -a /var/lib/dpkg "$work/dpkg"
	lab_boot || return 1
	inside cp -a "$work/dpkg" /var/lib/dpkg
	inside rm -f /usr/sbin/policy-rc.d # a container's: it would keep all services from starting
}

installed_dpkg() { said inside dpkg --force-unsafe-io "$@"; }
ours() { inside find /etc /run /usr /var /lib/systemd -xdev -name '*davylamp*' ! -path "*/davylamp.service.d*" 2>/dev/null | sort; }
has_user() { inside getent passwd davylamp-probe; }
agents() { inside pgrep -x davylamp; }
mode_is() { dl status --json | jq -e ".mode == \"$1\"" >/dev/null; }
answers() { dl status >"$work/said" 2>&1; }
runs_on() { dl status --json | jq -e ".processes[] | select(.unit == \"$service.service\") | .backend == \"$1\"" >/dev/null; }
group_of_service() { find "$group" -type d -name "$service.service"; }
frozen_now() { grep -q 'frozen 1' "$(group_of_service)/cgroup.events"; }
# A throttle of half of the time freezes and thaws many times in this time.
stays_thawed() {
	local i
	for ((i = 0; i < 100; i++)); do
		! frozen_now && [[ $(<"$(group_of_service)/cgroup.freeze") == 0 ]] || return 1
		sleep 0.01
	done
}
nothing_is_frozen() { ! grep -l 'frozen 1' $(find "$group" -name cgroup.events); }
throttle() { said dl act throttle "$(workload $service)" --duty '50 %' --lease '5 min'; }
restarted() { is $service active && [[ $(main_pid $service) != "$1" && $(main_pid $service) != 0 ]]; }
outcome() { grep -q "outcome  $1 done" "$work/agent.out"; }
crash() {
	local before
	before=$(main_pid $service)
	inside systemctl reset-failed $service
	inside kill -SEGV "$before"
	until_true 30 restarted "$before" && until_true 30 healthy $health
}

# guest.sh redefines it.
on_installed() { :; }

case_install() {
	local before
	before=$(main_pid $service)
	check "the package installs" installed_dpkg -i "$work/first.deb"
	check "the installed agent runs" is davylamp active
	check "it is enabled" inside systemctl is-enabled -q davylamp
	check "it is in mode advise, which only reports" mode_is advise
	check "no service is adopted" test "" = "$(dl policy adopted --json)"
	check "the user of the probes exists" has_user
	check "programs without a page of their own have davylamp(8)" test davylamp.8.gz = "$(inside readlink /usr/share/man/man8/davylamp-probe.8.gz)"
	check "the running engine is not restarted" test "$before" = "$(main_pid $service)"
	on_installed
}

enforce() {
	inside mkdir /etc/davylamp
	printf '[agent]\nmode = enforce\n' | inside sh -c 'cat >/etc/davylamp/hazards.conf'
	said inside systemctl restart davylamp
	check "the mode can be set in /etc/davylamp" until_true 10 mode_is enforce
	check "a service can be adopted" adopt $service.service
}

# Two crashes within half an hour open the breaker.
case_act() {
	enforce
	check "the agent recognises the service's engine on its GPU driver" until_true 20 runs_on vulkan
	check "the agent watches it as the service's" until_true 20 adopted $service '.engine == "llama-server" and .pid > 0'
	check "a crash is followed by a restart" crash
	check "the agent has restarted the engine on the same device" until_true 30 outcome restart
	until_true 20 runs_on vulkan
	check "the second crash is followed by another start" crash
	check "the agent has moved the engine to the CPU" until_true 30 outcome migrate_cpu
	check "the moved engine has no device" told $service $on_cpu
	check "the moved engine answers" until_true 20 healthy $health
}

case_upgrade() {
	local engine agent
	until_true 20 adopted $service '.state == "active" and .workload > 0'
	engine=$(main_pid $service) agent=$(main_pid davylamp)
	check "the engine can be throttled" throttle
	check "the kernel freezes it part of the time" until_true 10 frozen_now
	check "the package is upgraded while the engine is throttled" installed_dpkg -i "$work/next.deb"
	check "another agent runs after the upgrade" eval 'is davylamp active && [[ $(main_pid davylamp) != "$agent" ]]'
	check "no agent of the old version is left" test "$(main_pid davylamp)" = "$(agents)"
	check "the engine is not frozen after the upgrade" stays_thawed
	check "the upgrade does not restart the engine" test "$engine" = "$(main_pid $service)"
	check "the engine answers after the upgrade" healthy $health
	check "the new agent has the adopted service, and knows its move" until_true 20 \
		adopted $service ".told_backend == \"cpu\" and .engine == \"$kind\""
	check "the new agent can act on it" throttle
	check "its throttle takes effect" until_true 10 frozen_now
}

case_remove() {
	local engine
	engine=$(main_pid $service)
	check "the package is removed while the engine is throttled" installed_dpkg -r davylamp
	check "no agent is left" not agents
	check "no process is frozen after the removal" nothing_is_frozen
	check "the engine is not frozen again" stays_thawed
	check "the drop-in of the service is removed" not inside test -e /etc/systemd/system/$service.service.d/50-davylamp.conf
	check "the service runs again without settings of davylamp" eval 'restarted "$engine" && not told $service $on_cpu'
	check "systemd needs no reload" test no = "$(inside systemctl show -P NeedDaemonReload $service)"
	check "the service answers after the removal" until_true 20 healthy $health
	check "the configuration and the state are kept" inside test -e /etc/davylamp/hazards.conf -a -e $state/davylamp.db
}

# A removal that finds no agent.
case_remove_stopped() {
	installed_dpkg -i "$work/next.deb"
	until_true 10 answers
	check "the package installs again" answers
	adopt $service.service
	check "the service is adopted again" inside test -e /etc/systemd/system/$service.service.d/50-davylamp.conf
	inside systemctl stop davylamp
	check "the package is removed while its agent is stopped" installed_dpkg -r davylamp
	check "the drop-in is removed without an agent" not inside test -e /etc/systemd/system/$service.service.d/50-davylamp.conf
}

case_purge() { # BEFORE
	check "the package is purged" installed_dpkg -P davylamp
	check "no file of the package is left" test "$1" = "$(ours)"
	check "no user of the package is left" not has_user
	check "no service is enabled that does not exist" not inside test -e /etc/systemd/system/multi-user.target.wants/davylamp.service
	check "no process of the package is left" not inside pgrep davylamp
	check "no process is frozen after the purge" nothing_is_frozen
	check "the engine still answers" healthy $health
}

all_cases() {
	local before
	before=$(ours)
	inside systemctl start $service
	until_true 30 healthy $health
	case_install
	case_act
	case_upgrade
	case_remove
	case_remove_stopped
	case_purge "$before"
}

# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests/bench/oomd, in a guest with systemd as the first process: a unit exceeds its MemoryHigh until systemd-oomd
# kills it. Then an engine crashes, while systemd-oomd and the agent run. Output:
#   pressure BEGAN PASSED KILLED   of one round, ms of uptime: the unit's first stall; the average that systemd-oomd
#                                  judges passes the limit; the unit has no process left
#   resident KIB                   systemd-oomd
#   crashes COUNT AGENT OOMD       how many of them each of the two reported
. /lab/lab.sh

rounds=6 crashes=20 limit=1
log=/run/oomd.log units=/run/systemd/system group=/sys/fs/cgroup/system.slice/hog.service
mkfifo /run/never /run/agent
exec 6<>/run/never 7<>/run/agent
nap() { read -r -t "$1" _ <&6; }
now() { read -r now _ </proc/uptime; now=${now%.*}${now#*.}0; }

mkdir -p $units/systemd-oomd.service.d /etc/systemd/oomd.conf.d
printf '[OOM]\nDefaultMemoryPressureDurationSec=1s\n' >/etc/systemd/oomd.conf.d/bench.conf # the shortest that it allows
cat >$units/systemd-oomd.service.d/bench.conf <<END
[Unit]
StartLimitIntervalSec=0
[Service]
Environment=SYSTEMD_LOG_TARGET=console
StandardError=append:$log
END
# judged_unit NAME COMMAND LINE...: a unit that systemd-oomd judges.
judged_unit() {
	unit=$units/$1.service
	printf '[Unit]\nDefaultDependencies=no\nStartLimitIntervalSec=0\n[Service]\nExecStart=%s\n' "$2" >"$unit"
	printf 'ManagedOOMMemoryPressure=kill\nManagedOOMMemoryPressureLimit=%s%%\n' $limit >>"$unit"
	shift 2
	printf '%s\n' "$@" >>"$unit"
}
judged_unit hog "/bin/dd if=/dev/zero of=/dev/null bs=32M" MemoryHigh=16M
cat >/run/engine <<END
exec react crash /bin/llama-server $crashes 0 '"event":"process"&"pid":%,&llama-server' '"hazard":"runner_crash"&"pid":%,' \\
	</run/agent >/run/crashes
END
judged_unit engine "/bin/sh /run/engine" Type=oneshot LimitCORE=0
check "the units are loaded" systemctl daemon-reload
# Without swap, anonymous memory cannot be reclaimed, and systemd-oomd (252) kills only a unit with reclaim in the last
# 30 s. Until an uptime of 30 s it takes this for granted.
swap_on() { modprobe zram && echo 512M >/sys/block/zram0/disksize && mkswap /dev/zram0 >/dev/null && swapon /dev/zram0; }
check "the guest has swap" swap_on

# One round. systemd-oomd is started anew, because it waits for 15 s after a kill. It looks at a unit once a second:
# the pause is random, so that a round does not begin at a fixed point of that second.
pressure() {
	began='' passed='' looks=1000
	systemctl restart systemd-oomd || return 1
	nap 0.$((RANDOM % 10))
	systemctl start hog
	while populated && [ $((looks -= 1)) -gt 0 ]; do
		now
		while read -r kind average _ _ total; do
			[ "$kind" = full ] || continue # systemd-oomd does not read "some"
			[ "$began" ] || [ "$total" = total=0 ] || began=$now
			average=${average#avg10=}
			[ "$passed" ] || [ "${average%.*}${average#*.}" -le ${limit}00 ] || passed=$now
		done <"$group/memory.pressure"
		nap 0.03
	done 2>/dev/null # the group disappears
	now
	[ $looks -gt 0 ] || systemctl stop hog
	[ "$passed" ] && [ $looks -gt 0 ] && echo "pressure $began $passed $now"
}
populated() {
	while read -r key value; do
		[ "$key" != populated ] || break
	done <"$group/cgroup.events" && [ "$value" = 1 ]
}
kills() { grep -c '^Killed .*/hog.service due to memory pressure' $log; }
for round in $(seq $rounds); do
	check "pressure passes the limit, and the unit ends" pressure
	check "systemd-oomd has killed it" [ "$(kills)" = "$round" ]
done
oomd=$(systemctl show -P MainPID systemd-oomd)
sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/resident \1/p' "/proc/$oomd/status"

davylamp run --json --mode observe --socket /run/agent.sock --state /tmp/state --config /tmp >&7 2>/tmp/agent.err &
agent=$!
check "the agent answers" lab_soon 60 sh -c "davylamp status --socket /run/agent.sock >/dev/null 2>&1"
before=$(wc -l <$log)
check "the engine crashes" systemctl start engine
sleep 3 # systemd-oomd looks three times
check "systemd-oomd still runs" [ -d "/proc/$oomd" ]
echo "crashes $(grep -c . /run/crashes) $(grep -c '^[0-9]' /run/crashes) $(($(wc -l <$log) - before))"
kill $agent
cat $log /tmp/agent.err
lab_end

# SPDX-License-Identifier: GPL-2.0-or-later
#
# Many hosts: a setting that three hosts fail with is avoided by the others. Sourced by tests/fleet/run.

# swarm SCENARIO [STEP...]: its results are in $work/swarm; each STEP runs when the swarm has printed a line that is no result.
swarm() {
	local scenario=$1 line
	shift
	rm -rf "$work/etcd"
	etcd_start || return 1
	export PATIENCE
	coproc SWARM { exec "$O/fleet/swarm" "$scenario" "$hosts" "$partition" "$etcd_url"; }
	: >"$work/swarm"
	while read -r line <&"${SWARM[0]}"; do
		if [[ $line == {* ]]; then
			echo "$line" >>"$work/swarm"
			continue
		fi
		"$1" || break
		shift
		echo >&"${SWARM[1]}"
	done 2>/dev/null
	wait "$SWARM_PID" 2>/dev/null
	cpu=$(sed 's/.*) //' "/proc/$etcd/stat" | awk '{ printf "%.1f", ($12 + $13) / 100 }')
	etcd_stop
	jq -c --arg cpu "$cpu" '. + {etcd_cpu_s: ($cpu | tonumber)}' "$work/swarm"
}
result() { # N FILTER: of the Nth result
	jq -es "length >= $1 and (.[$1 - 1] | $2)" "$work/swarm" >/dev/null
}
on_failure() { tail -n 5 "$work/swarm" "$work/etcd.out" 2>/dev/null | cut -c1-400; }

echo "== $hosts hosts; three lose the device with ubatch 512"
check "a fleet runs" swarm plain
check "every host avoids the setting" result 1 '.missing == 0 and .took == .hosts'
if [[ ${FLEET_HOSTS-} ]]; then # a figure, not a check: CI runs virtual machines beside it
	check "within 60 s" result 1 '.last_ms < 60000'
fi
check "they take the half" result 1 '.ubatch == 256'
check "no host believes that the store was rolled back" result 1 '.rolled_back == 0'
check "the first hundredth takes it before the others" result 1 '.waited_for_first < .hosts and .first_ms < .p50_ms'

echo "== a third has another driver"
check "a fleet with two drivers runs" swarm drivers
check "hosts with the other driver do not take the rule, all others do" result 1 \
	'.missing == 0 and .other_driver == 0 and .took < .hosts * 0.7'

echo "== 20 liars"
check "a fleet with liars runs" swarm liars
check "20 liars neither suppress the rule nor make another one" result 1 '.missing == 0 and .misled == 0'

echo "== a rule that makes it worse"
check "a fleet with a bad rule runs" swarm worse
check "all hosts take it" result 1 '.missing == 0'
check "when hosts fail more often with it, all take it back" result 2 '.took == 0'

echo "== a tenth has no network for $partition s"
check "a fleet with a partition runs" swarm partition
check "the hosts with a network take the rule" result 1 '.missing == 0 and .took < .hosts'
check "the others take it when they are back" result 2 '.missing == 0 and .took == .hosts'

echo "== etcd is killed, and an older snapshot is restored"
take_snapshot() { ctl snapshot save "$work/snapshot"; }
restore_snapshot() {
	etcd_stop -KILL
	rm -rf "$work/etcd"
	ctl snapshot restore "$work/snapshot" --name fleet --data-dir "$work/etcd" \
		--initial-cluster "fleet=http://127.0.0.1:$((etcd_port + 1))" \
		--initial-advertise-peer-urls "http://127.0.0.1:$((etcd_port + 1))" && etcd_start
}
count_keys() {
	ctl get --prefix --keys-only /davylamp/v1/
	grep -c . "$work/ctl" >"$work/keys"
}
check "a fleet with a restored store runs" swarm restore take_snapshot restore_snapshot count_keys
check "hosts notice that the store is older" result 2 '.rolled_back > 0'
# A tenth has no row of its own; three rows are newer than the snapshot.
check "every row is there again" test "$(<"$work/keys")" = $((hosts + hosts - (hosts + 9) / 10 + 3))
check "no host loses its rule" result 2 '.missing == 0 and .took == .hosts'

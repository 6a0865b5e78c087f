# SPDX-License-Identifier: GPL-2.0-or-later
#
# An etcd of three members that are killed one after the other, and a host that knows all three. Sourced by
# tests/fleet/run.

if [[ $(id -u) != 0 ]]; then
	skip "an etcd of three members" "the service needs root"
	return 0
fi
on_failure() { tail -n 8 "$work"/*.fleet.out "$work"/member*.out 2>/dev/null | cut -c1-400; }
ctl_options=()
member_url() { echo "http://127.0.0.1:$((etcd_port + 2 * $1))"; }
peer_url() { echo "http://127.0.0.1:$((etcd_port + 2 * $1 + 1))"; }
member_start() { # NUMBER
	etcd --name "m$1" --data-dir "$work/member$1" --listen-client-urls "$(member_url "$1")" \
		--advertise-client-urls "$(member_url "$1")" --listen-peer-urls "$(peer_url "$1")" \
		--initial-advertise-peer-urls "$(peer_url "$1")" --initial-cluster-token members \
		--initial-cluster "m0=$(peer_url 0),m1=$(peer_url 1),m2=$(peer_url 2)" >>"$work/member$1.out" 2>&1 &
	member[$1]=$!
}
member_kill() { # NUMBER
	kill -KILL "${member[$1]}"
	wait "${member[$1]}" 2>/dev/null
	unset "member[$1]"
}
# row_at NUMBER KEY TEXT: what this member has.
row_at() { etcd_url=$(member_url "$1") ctl get --prefix "/davylamp/v1/$2" && grep -q "$3" "$work/ctl"; }
connected_to() { status_is alone ".connected and .endpoint == \"$(member_url "$1")\""; }

for i in 0 1 2; do member_start $i; done
make_ledger alone
printf '%s\n' "endpoints = $(member_url 0), $(member_url 1), $(member_url 2)" "host = alone" "quorum = 1" >"$work/alone.conf"
ledger alone good.gguf 512 90000 0
serve alone
check "a host connects to the first of three members" until_true 40 connected_to 0
for i in 0 1 2; do
	check "its row is in member $i" until_true 20 row_at $i lived/alone/ '"survived_s":90000'
done
member_kill 0
check "it connects to another member when its own is killed" until_true 60 status_is alone ".connected and .endpoint != \"$(member_url 0)\""
ledger alone bad.gguf 512 60 2
check "a failure is published there" until_true 20 row_at 2 fail/alone/ '"device_lost":2'
member_start 0
check "the member that returns gets the row" until_true 40 row_at 0 fail/alone/ '"device_lost":2'
if connected_to 1; then i=1; else i=2; fi
member_kill $i
check "it connects again when the second one is killed" until_true 60 status_is alone ".connected and .endpoint != \"$(member_url $i)\""
ledger alone worse.gguf 512 60 3
check "and publishes the next failure" until_true 20 row_at 0 fail/alone/ '"device_lost":3'
check "no row is lost" row_at 0 lived/alone/ '"survived_s":90000'
end "${service[alone]}"
unset "service[alone]"
for i in "${!member[@]}"; do member_kill "$i"; done

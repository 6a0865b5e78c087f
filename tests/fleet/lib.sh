# SPDX-License-Identifier: GPL-2.0-or-later
#
# A real etcd on the loopback interface for the tests of the fleet. Sourced after tests/lib.sh; $work is a folder.

etcd='' etcd_port=${FLEET_PORT:-18790}
etcd_url=http://127.0.0.1:$etcd_port

# etcd_start [OPTION...]: with the data in $work/etcd.
etcd_start() {
	local scheme=${etcd_url%%:*}
	etcd --name fleet --data-dir "$work/etcd" --listen-client-urls "$etcd_url" --advertise-client-urls "$etcd_url" \
		--listen-peer-urls "http://127.0.0.1:$((etcd_port + 1))" \
		--initial-advertise-peer-urls "http://127.0.0.1:$((etcd_port + 1))" \
		--initial-cluster "fleet=http://127.0.0.1:$((etcd_port + 1))" --bcrypt-cost 4 \
		--auto-compaction-mode periodic --auto-compaction-retention 1h "$@" >>"$work/etcd.out" 2>&1 &
	etcd=$!
	[[ $scheme == https ]] || until_true 20 ctl endpoint health
}

etcd_stop() {
	[[ ! $etcd ]] || kill "${1:--TERM}" "$etcd" 2>/dev/null
	[[ ! $etcd ]] || wait "$etcd" 2>/dev/null
	etcd=''
}

ctl_options=()
ctl() { ETCDCTL_API=3 etcdctl --endpoints "$etcd_url" "${ctl_options[@]}" "$@" >"$work/ctl" 2>"$work/ctl.err" </dev/null; }

# certificates: an authority, and a certificate for etcd and one for the hosts, in $work.
certificates() {
	local name
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=fleet-ca \
		-keyout "$work/ca.key" -out "$work/ca.crt" 2>/dev/null || return 1
	# etcd refuses a client of its gateway whose certificate has a common name.
	for name in etcd host; do
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/O=$name" \
			-keyout "$work/$name.key" -out "$work/$name.csr" 2>/dev/null || return 1
		openssl x509 -req -in "$work/$name.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" -CAcreateserial -days 2 \
			-extfile <(printf 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n') \
			-out "$work/$name.crt" 2>/dev/null || return 1
	done
}

# make_ledger HOST: one run of the real agent makes the file.
make_ledger() {
	mkdir -p "$work/$1"
	"$program" run --json --socket "$work/$1.sock" --state "$work/$1" --config "$work" >"$work/$1.agent" 2>&1 &
	local agent=$!
	until_true 20 test -e "$work/$1/davylamp.db"
	end "$agent"
}
# ledger HOST MODEL UBATCH SURVIVED DEVICE_LOST: a row as the agent writes it.
ledger() {
	sqlite3 "$work/$1/davylamp.db" "INSERT INTO ledger (device, driver, kernel, firmware, engine, backend, model, ubatch, context,
		survived_s, deepest, failed_depth, slowest_job_ns, outcome, failed_s, first_s, last_s) VALUES ('llvmpipe', '', '6.12', '',
		'llama-server 0.7.0', 2, '$2', $3, 4096, $4, 100, 0, 0, 0, 0, 1, strftime('%s')) ;
		INSERT INTO ledger_fault SELECT max(id), 6, $5 FROM ledger WHERE $5 > 0 HAVING max(id) IS NOT NULL AND $5 > 0;"
}
# serve HOST: its davylamp-fleet, as $work/HOST.conf says.
serve() {
	"$program" fleet run --config "$work/$1.conf" --state "$work/$1" --socket "$work/$1.sock" >"$work/$1.fleet.out" 2>&1 &
	service[$1]=$!
}
status_is() { "$program" fleet status --json --state "$work/$1" 2>/dev/null | jq -e "$2" >/dev/null; }

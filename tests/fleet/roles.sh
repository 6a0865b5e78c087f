# SPDX-License-Identifier: GPL-2.0-or-later
#
# The installed davylamp-fleet with TLS, a role for each host, a real ledger file, and rows that lie. Sourced by
# tests/fleet/run.

if [[ $(id -u) != 0 ]]; then
	skip "roles, TLS and the two halves of the service" "they need root"
	return 0
fi
on_failure() { tail -n 8 "$work"/*.fleet.out "$work/said" "$work/ctl.err" 2>/dev/null | cut -c1-400; }
etcd_url=https://127.0.0.1:$etcd_port
certificates || { echo "certificates cannot be made" >&2; exit 1; }
ctl_options=(--cacert "$work/ca.crt" --cert "$work/host.crt" --key "$work/host.key")
rm -rf "$work/etcd"
etcd_start --client-cert-auth --trusted-ca-file "$work/ca.crt" --cert-file "$work/etcd.crt" --key-file "$work/etcd.key"
until_true 20 ctl endpoint health

# The set-up of docs/fleet.md: a host may read all, and write what has its name.
role() {
	local kind
	ctl role add "$1" && ctl role grant-permission "$1" --prefix=true read /davylamp/v1/ || return 1
	for kind in fail lived; do
		ctl role grant-permission "$1" --prefix=true readwrite "/davylamp/v1/$kind/$1/" || return 1
	done
	ctl role grant-permission "$1" readwrite "/davylamp/v1/host/$1" && ctl user add "$1:secret-$1" && ctl user grant-role "$1" "$1"
}
roles() { role one && role two && role three && ctl user add root:top && ctl user grant-role root root && ctl auth enable; }
check "etcd has a role for each host" roles
as_root() { ctl --user root:top "$@"; }

make_host() { # HOST
	make_ledger "$1"
	printf 'secret-%s\n' "$1" >"$work/$1.password"
	chmod 600 "$work/$1.password"
	printf '%s\n' "endpoints = $etcd_url" "ca = $work/ca.crt" "certificate = $work/host.crt" "key = $work/host.key" \
		"user = $1" "password_file = $work/$1.password" "host = $1" "quorum = 2" "trial = 1 s" >"$work/$1.conf"
}
for name in one two three; do make_host "$name"; done
ledger one good.gguf 512 90000 0
serve one
check "a host connects with a certificate and a password" until_true 20 status_is one '.connected and .hosts == 1 and .rows_own == 1'
check "the network half runs as another user without capabilities" bash -c "
	grep -q '^Uid:.65523.65523' /proc/\$(pgrep -P ${service[one]} | head -n 1)/status &&
	grep -q '^CapPrm:.0*\$' /proc/\$(pgrep -P ${service[one]} | head -n 1)/status && grep -q '^CapPrm:.0*\$' /proc/${service[one]}/status"
row_is() { as_root get --prefix "/davylamp/v1/$1" && grep -q "$2" "$work/ctl"; }
check "its row is in etcd, without the model's name" row_is lived/one/ '"model":"[0-9a-f]*".*"survived_s":90000'
check "neither names, paths nor addresses are in etcd" bash -c "! grep -qE 'gguf|/srv|127\.0' '$work/ctl'"

echo "== a failure is published when the agent writes it; two hosts make a rule"
serve three
until_true 20 status_is three .connected
ledger one bad.gguf 512 60 2
check "a new failure is published at once" until_true 10 row_is fail/one/ '"device_lost":2'
check "one host is below the quorum" status_is three '.rules | length == 0'
mkdir -p "$work/two"
ledger two bad.gguf 512 60 1
serve two
check "the second host makes a rule that the third takes" until_true 20 status_is three '.rules[0].state == "taken"'
layer=$work/three/fleet/backend.conf
check "the rule is in the layer, and has its evidence" grep -q 'because = 2 hosts failed with ubatch 512 (3 device_lost)' "$layer"
check "policy check accepts the layer's file" exits 0 "$program" policy check "$layer"
check "fleet status shows it" bash -c "'$program' fleet status --state '$work/three' | grep -q 'taken: ubatch 256 on vulkan of llvmpipe'"
evidence() { "$program" fleet evidence --config "$work/three.conf" "$@" >"$work/said" 2>&1; }
sums() { evidence --model bad.gguf --device llvmpipe --json && jq -e '.evidence | length == 1 and .[0].rows == 2 and .[0].rows_failed == 2 and
	.[0].faults.device_lost == 3' "$work/said" >/dev/null; }
check "fleet evidence sums the hosts" sums
check "fleet evidence prints a table" bash -c "'$program' fleet evidence --config '$work/three.conf' | grep -qE '^llvmpipe .* 512 +4096 +2 +2 +3 '"

exports() {
	"$program" exporter --textfile "$work/fleet.prom" --state "$work/three" --socket "$work/none.sock" 2>/dev/null &&
		grep -qx 'davylamp_fleet_connected 1' "$work/fleet.prom" && grep -qx 'davylamp_fleet_hosts [23]' "$work/fleet.prom" &&
		grep -qx 'davylamp_fleet_rules{state="taken"} 1' "$work/fleet.prom"
}
check "the exporter has the fleet's state" exports

echo "== trust"
check "a host cannot write another host's key" not ctl --user two:secret-two put /davylamp/v1/fail/one/0123456789abcdef x
check "etcd says why" grep -q 'permission denied' "$work/ctl.err"
for i in 1 2 3; do as_root put "/davylamp/v1/fail/evil$i/0123456789abcdef" "{\"v\":1}"; done
as_root put /davylamp/v1/fail/two/0123456789abcdef "$(head -c 100000 /dev/zero | tr '\0' x)"
check "rows that are no rows are counted, and nothing else happens" until_true 10 status_is three '.rows_refused >= 4 and .connected'
check "the rule stays" status_is three '.rules[0].state == "taken"'
sed 's/secret-three/wrong/' "$work/three.password" >"$work/wrong.password"
sed "s/three.password/wrong.password/; s/^host = .*/host = wrong/" "$work/three.conf" >"$work/wrong.conf"
mkdir -p "$work/wrong"
serve wrong
check "a wrong password is reported with etcd's words" until_true 20 grep -q "authentication failed" "$work/wrong.fleet.out"
end "${service[wrong]}"

echo "== etcd is gone"
etcd_stop -KILL
check "a host reports that etcd is gone" until_true 30 status_is three '.connected == false'
check "the rules stay in the layer" grep -q 'ubatch = 256' "$layer"
end "${service[three]}"
serve three
until_true 20 grep -q 'it is tried again' "$work/three.fleet.out"
check "a service that starts without etcd leaves the rules" grep -q 'ubatch = 256' "$layer"
etcd_start --client-cert-auth --trusted-ca-file "$work/ca.crt" --cert-file "$work/etcd.crt" --key-file "$work/etcd.key"
check "it connects when etcd is back" until_true 60 status_is three .connected

echo "== a row ends with its versions"
sqlite3 "$work/one/davylamp.db" "UPDATE ledger SET last_s = strftime('%s') - 864000 WHERE model = 'good.gguf'"
no_row() { as_root get --prefix --keys-only "/davylamp/v1/$1" && ! grep -q . "$work/ctl"; }
check "a row that the ledger has not seen for a lease is removed" until_true 20 no_row lived/one/
check "the other rows stay" row_is fail/one/ device_lost

echo "== export and import"
check "export writes rules and evidence" bash -c "'$program' fleet export --config '$work/three.conf' --state '$work/three' >'$work/export' &&
	jq -e '(.layer | contains(\"ubatch = 256\")) and (.evidence | length >= 1)' '$work/export' >/dev/null"
check "import takes the rules" exits 0 "$program" fleet import "$work/export" --state "$work/elsewhere" --socket "$work/none.sock"
check "the imported rules are those of the export" cmp -s "$work/elsewhere/fleet/backend.conf" "$layer"
printf '[rule x]\nif pci = 1002:744c\nif model_hash = f739c6215b0b811a\nubatch = 64\nbecause = 4 hosts failed with ubatch 128\n' |
	jq -Rs '{layer: .}' >"$work/one-rule"
check "import takes a rule for a GPU" exits 0 "$program" fleet import "$work/one-rule" --state "$work/explained" --socket "$work/none.sock"
check "policy explain names the fleet's evidence" bash -c "'$program' policy explain --engine llama-server --model tiny.gguf --pci 1002:744c \
	--state '$work/explained' --config '$work/none' --policies '$STAGE/usr/share/davylamp/policies' |
	tr -d '\n' | grep -qE 'ubatch = 64 +fleet, .*/fleet/backend.conf:4, rule x +because 4 hosts failed with ubatch 128'"
jq '.layer = "[rule x]\nargument --evil = yes\n"' "$work/export" >"$work/forged"
check "an import with anything else is refused" exits 2 "$program" fleet import "$work/forged" --state "$work/elsewhere" --socket "$work/none.sock"
check "the message names what is allowed" says "expected backends, ubatch, vram_reserve or warn"
check "and changes nothing" cmp -s "$work/elsewhere/fleet/backend.conf" "$layer"

echo "== configuration and verbs"
wrong_conf() { printf '%s\n' "$1" >"$work/bad.conf"; exits 2 "$program" fleet run --config "$work/bad.conf" --state "$work/bad" && says "$2"; }
check "plain HTTP is refused except on the host itself" wrong_conf 'endpoints = http://10.0.0.1:2379' 'bad.conf:1: endpoint'
check "an unknown key is named with the known ones" wrong_conf 'endpoint = https://x' "unknown key 'endpoint', expected endpoints"
check "a quorum of 0 is refused" wrong_conf 'quorum = 0' "expected a number from 1"
check "without a configuration, run says what is missing" exits 4 "$program" fleet run --config "$work/none.conf" --state "$work/bad"
check "an unknown verb is refused" exits 2 "$program" fleet frobnicate
check "status without a service says what to do" exits 4 "$program" fleet status --state "$work/bad"
check "the message names the service" says "systemctl start davylamp-fleet"
for name in "${!service[@]}"; do end "${service[$name]}"; done
check "no half of the service is left" not pgrep -f "fleet run --config $work"
etcd_stop
etcd_url=http://127.0.0.1:$etcd_port ctl_options=()

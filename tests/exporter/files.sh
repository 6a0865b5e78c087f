# SPDX-License-Identifier: GPL-2.0-or-later
#
# The exporter's command line and HTTP, its text file, manual, unit and plug-in. Sourced by tests/exporter/run.

table_names() {
	sed -nE 's/^\tX\([A-Z_]+, ([a-z_]+), (GAUGE|COUNTER|INFO),.*/\1 \2/p' userspace/exporter/metric_table.h |
		sed 's/ GAUGE//; s/ COUNTER/_total/; s/ INFO/_info/; s/^/davylamp_/'
}
manual_is_complete() { diff <(table_names | sort) <(sed -n 's/^\.B \(davylamp_[a-z_]*\).*/\1/p' man/davylamp-exporter.8 | sed '/^davylamp_up$/{x;s/^/x/;/^xx$/{x;b};x;d}' | sort -u); }
names_exist() { # FILE: all of its metrics are in the table
	! grep -oE 'davylamp_[a-z_]+' "$1" | sort -u | grep -vxFf <(table_names)
}

command_checks() {
	local program=$STAGE/usr/sbin/davylamp
	check "exporter --listen without a port exits with 2" exits 2 "$program" exporter --listen 127.0.0.1
	check "the error shows an address" says "such as '127.0.0.1:19447'"
	check "exporter --listen with a name exits with 2" exits 2 "$program" exporter --listen localhost:19480
	check "exporter --listen with a port that is too large exits with 2" exits 2 "$program" exporter --listen 127.0.0.1:65536
	check "exporter --interval without --textfile exits with 2" exits 2 "$program" exporter --interval 5
	check "exporter with a superfluous word exits with 2" exits 2 "$program" exporter now
	check "exporter refuses --listen together with --textfile" exits 2 "$program" exporter --listen 127.0.0.1:19480 --textfile "$work/x.prom"
	check "davylamp links no libmicrohttpd" not bash -c "ldd '$program' | grep -q microhttpd"
}

http_code() { curl -s -m 20 -o "$work/body" -w '%{http_code}' "$@"; }
http_type() { curl -s -m 20 -o "$work/body" -w '%{content_type}' "$@"; }
http_checks() {
	local url=http://127.0.0.1:$base i held=()
	check "a second exporter on the port exits with 1" exits 1 "$davylamp" exporter --listen "127.0.0.1:$base"
	check "the error names the address" says "'127.0.0.1:$base' cannot be listened on: Address already in use"
	check "by default it listens on the loopback interface only" listens_on_loopback
	check "the format is OpenMetrics" test "$(http_type "$url/metrics")" = "application/openmetrics-text; version=1.0.0; charset=utf-8"
	check "the last line is # EOF" test "$(tail -n 1 "$work/body")" = "# EOF"
	check "a client that accepts only text gets version 0.0.4" test "$(http_type -H 'Accept: text/plain' "$url/metrics")" = "text/plain; version=0.0.4; charset=utf-8"
	check "another path is not found" test "$(http_code "$url/../etc/passwd")" = 404
	check "POST is not allowed" test "$(http_code -d x "$url/metrics")" = 405
	check "HEAD has no body" test "$(http_code -I "$url/metrics")" = 200
	check "a head of 100 kB is refused" test "$(http_code -H "X: $(head -c 100000 /dev/zero | tr '\0' x)" "$url/metrics")" != 200
	for i in {1..40}; do
		exec {i}<>"/dev/tcp/127.0.0.1/$base" || break
		held+=("$i")
		printf 'GET /met' >&"$i"
	done 2>/dev/null
	check "clients that say nothing more lose their place" until_true 5 bash -c "curl -sf -m 15 '$url/metrics' | grep -q '^davylamp_up 1'"
	for i in "${held[@]}"; do exec {i}>&-; done
	head -c 200000 /dev/urandom | curl -s -m 3 -o "$work/body" "telnet://127.0.0.1:$base" >/dev/null 2>&1
	check "random bytes do not end it" has_metric "$base" '^davylamp_up 1$'
}
listens_on_loopback() {
	"$STAGE/usr/sbin/davylamp-exporter" --socket "$sock" 2>"$work/default.err" &
	exporters+=($!)
	until_true 5 has_metric 19447 '^davylamp_up 1$' || return 1
	[[ $(awk '$2 ~ /:4BF7$/ && $4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6) == 0100007F:4BF7 ]]
}

textfile_checks() {
	check "--textfile writes the metrics and ends" exits 0 "$davylamp" exporter --textfile "$work/davylamp.prom" --socket "$sock"
	check "the file has the same families" diff <(grep '^# TYPE' "$work/davylamp.prom") <(curl -sf -H 'Accept: text/plain' "http://127.0.0.1:$base/metrics" | grep '^# TYPE')
	check "node_exporter can read the file" test "$(stat -c %a "$work/davylamp.prom")" = 644
	check "no temporary file is left" test "$(find "$work" -name 'davylamp.prom*' | wc -l)" = 1
	check "--textfile in a missing folder exits with 1" exits 1 "$davylamp" exporter --textfile "$work/none/x.prom" --socket "$sock"
	check "--textfile without permission exits with 3" exits 3 "${nobody[@]}" "$STAGE/usr/sbin/davylamp-exporter" --textfile "$work/state/x.prom" --socket "$sock"
	"$STAGE/usr/sbin/davylamp-exporter" --textfile "$work/again.prom" --interval '100 ms' --socket "$sock" 2>"$work/again.err" &
	exporters+=($!)
	until_true 5 test -s "$work/again.prom"
	cp "$work/again.prom" "$work/first.prom"
	check "--interval writes the file again" until_true 5 not cmp -s "$work/again.prom" "$work/first.prom"
	end "${exporters[-1]}"
	check "a reader never sees a part of the file" test "$(tail -c 1 "$work/again.prom" | od -An -tx1)" = " 0a"
}

plugin_agrees() { # other programs of this host may have raised one
	local alarms
	alarms=$("$davylamp" status --json --socket "$sock" | jq '[.alarms[] | select(.level == 3)] | length')
	exits $((alarms > 0)) "$monitoring/node-problem" failing
}
plugin_checks() {
	local plugin=$monitoring/node-problem
	export DAVYLAMP_EXPORTER=127.0.0.1:$base
	check "the node's plug-in reports a failing GPU if the agent has an alarm of level 3" until_true 5 plugin_agrees
	check "the node's plug-in reports that the agent answers" exits 0 "$plugin" agent
	export DAVYLAMP_EXPORTER=127.0.0.1:1
	check "without an exporter, the node's condition is unknown" exits 2 "$plugin" failing
	unset DAVYLAMP_EXPORTER
	check "each rule of node-problem-detector has its condition and its plug-in" jq -e '[.conditions[].type] as $types | .source and
		(.rules | length == 3 and all(.[]; (.condition as $c | $types | index($c)) and .path == "/usr/share/davylamp/monitoring/node-problem"))' \
		"$monitoring/node-problem-detector.json"
	check "the DaemonSet is YAML; its exporter has no rights" /usr/bin/python3 -c '
import sys, yaml
pod = yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]
agent, exporter = pod["containers"]
rights = exporter["securityContext"]
assert rights["runAsNonRoot"] and rights["capabilities"]["drop"] == ["ALL"] and not rights["allowPrivilegeEscalation"]
assert {m["name"] for c in (agent, exporter) for m in c["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
' "$monitoring/daemonset.yaml"
	check "the patch for the fleet mounts what it names, or the agent's" /usr/bin/python3 -c '
import sys, yaml
base, pod = (yaml.safe_load(open(f))["spec"]["template"]["spec"] for f in sys.argv[1:])
fleet, = pod["containers"]
assert sorted(fleet["securityContext"]["capabilities"]["add"]) == ["SETGID", "SETPCAP", "SETUID"]
assert {m["name"] for m in fleet["volumeMounts"]} <= {v["name"] for v in base["volumes"] + pod["volumes"]}
' "$monitoring/daemonset.yaml" "$monitoring/fleet-daemonset.yaml"
	check "systemd rates the fleet's unit 3.0 or better" bash -c "systemd-analyze security --offline=true --threshold=30 \
		'$STAGE/usr/lib/systemd/system/davylamp-fleet.service' >'$work/rated.err' 2>&1"
	check "systemd rates the exporter's unit 1.5 or better" bash -c "systemd-analyze security --offline=true --threshold=15 \
		'$STAGE/usr/lib/systemd/system/davylamp-exporter.service' >'$work/rated.err' 2>&1"
}

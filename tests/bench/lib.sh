# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the parts of tests/bench/run: figures with their spread, the builds that are compared, processes. A part
# calls figure or latency with measured values on stdin, one a line; a part without values is an error.

figures=$work/figures.ndjson
failed=''
: >"$figures"

broken() {
	echo "bench: $1" >&2
	failed=1
}

# figure TOPIC NAME UNIT LIMIT [BUILD [NOTE]]: LIMIT is for the median, "" is none. latency: for the highest quantile.
figure() { put_figure median "$@"; }
latency() { put_figure p999 "$@"; }
put_figure() {
	local values
	values=$(grep -E '^-?[0-9.]+$' | sort -g)
	[[ $values ]] || { broken "'$2: $3' (${6:-this}) was not measured"; return; }
	awk -v judged="$1" -v topic="$2" -v name="$3" -v unit="$4" -v limit="${5-}" -v build="${6:-this}" -v note="${7-}" '
		{ v[NR] = $1 }
		function q(p) { i = int(p * NR + 0.999999); return v[i < 1 ? 1 : i > NR ? NR : i] }
		END {
			value = judged == "median" ? q(.5) : q(.999)
			printf "{\"topic\":\"%s\",\"name\":\"%s\",\"build\":\"%s\",\"unit\":\"%s\",\"n\":%d,\"median\":%g,", topic, name, build, unit, NR, q(.5)
			printf "\"p10\":%g,\"p90\":%g,\"p99\":%g,\"p999\":%g,\"min\":%g,\"max\":%g,\"judged\":\"%s\",", q(.1), q(.9), q(.99), q(.999), v[1], v[NR], judged
			printf "\"limit\":%s,\"met\":%s,\"note\":\"%s\"}\n", (limit == "" ? "null" : limit), (limit == "" ? "null" : (value <= limit ? "true" : "false")), note
		}' <<<"$values" >>"$figures"
}

# The table: a row for each figure, a column for each build.
print_table() {
	local build
	printf '| what | unit | %s beside it | at most | met |\n' "$(for build in "${builds[@]}"; do printf '%s | ' "$build"; done)"
	printf -- '|---|---|%s---|---|---|\n' "$(for build in "${builds[@]}"; do printf -- '---|'; done)"
	jq -rs --arg builds "${builds[*]}" '
		def short: if . == null then "" elif fabs >= 100 then round elif fabs >= 10 then . * 10 | round / 10
			else . * 100 | round / 100 end | tostring;
		def text: if . == null then "-"
			elif .judged == "median" then "\(.median | short) (\(.p10 | short) to \(.p90 | short), n \(.n))"
			else "p50 \(.median | short), p99 \(.p99 | short), p99.9 \(.p999 | short), n \(.n)" end;
		($builds | split(" ")) as $b
		| reduce .[] as $f ([]; if any(.[]; .[0].topic == $f.topic and .[0].name == $f.name)
			then map(if .[0].topic == $f.topic and .[0].name == $f.name then . + [$f] else . end) else . + [[$f]] end)
		| .[] | . as $row
		| (map(select(.build == "this"))[0] // .[0]) as $this
		| "| \($this.topic): \($this.name)\(if $this.note != "" then " (" + $this.note + ")" else "" end) | \($this.unit) | "
			+ ([$b[] as $build | ($row | map(select(.build == $build))[0] | text)] | join(" | ")) + " | "
			+ ([$row[] | select(.build | IN($b[]) | not) | "\(.build) \(text)"] | join("; "))
			+ " | \($this.limit | short) | \(if $this.met == null then "" elif $this.met then "yes" else "**no**" end) |"' "$figures"
}

# program_of BUILD, hooks_of BUILD: its agent, and the BPF objects it was built from.
program_of() { if [[ $1 == base ]]; then echo "$base/out/stage/usr/sbin/davylamp"; else echo "$STAGE/usr/sbin/davylamp"; fi; }
tree_of() { if [[ $1 == base ]]; then echo "$base/out"; else echo "$O"; fi; }

# agent_begin BUILD [OPTION...]: with its service's priority; output in $work/agent.out, as text unless an option says
# otherwise.
agent_nice=$(sed -n 's/^Nice=//p' policies/davylamp.service.in)
agent_begin() {
	local program
	program=$(program_of "$1")
	shift
	rm -rf "$work/state"
	mkdir -p "$work/config"
	nice -n "$agent_nice" "$program" run --socket "$work/sock" --state "$work/state" --config "$work/config" "$@" >"${agent_out:-$work/agent.out}" 2>"$work/agent.err" &
	agent=$!
	until_true 20 agent_answers || { cat "$work/agent.err" >&2; broken "the agent does not start"; }
}

# Processes of the agent, itself first.
agent_pids() { echo "$agent"; local child; for child in $(pgrep -P "$agent"); do echo "$child"; pgrep -P "$child"; done; }
# CPU time in ns of processes with their threads; a process that ends loses its time, so none may.
cpu_ns() {
	local pid sum=0 ns _ stat
	for pid; do
		for stat in "/proc/$pid/task"/*/schedstat; do
			read -r ns _ <"$stat" && sum=$((sum + ns))
		done
	done
	echo "$sum"
}
rss_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
# Sleeps without a process of its own, which the agent would see.
exec {never}<> <(:)
nap() { read -r -t "$1" -u "$never" || :; }

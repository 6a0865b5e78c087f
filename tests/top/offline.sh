# SPDX-License-Identifier: GPL-2.0-or-later
#
# Without an agent: the command line, and recorded answers of a hostile one.

links_ncurses() { ldd "$1" | grep -q libncurses; }

# A recorded answer whose texts have a terminal's escapes, other directions and lines.
hostile_record() {
	local text='x\u001b[2J\u001b]0;owned\u0007\u202eevil\nsecond line\r\u009b31m'
	jq -nc --argjson t "\"$text\"" '{status: {mode: $t, events: 1, dropped: 0, now_ns: 9e12, wall_s: 1.7e9, started_ns: 1e12,
		sensors: [{name: $t, state: "lost", reason: $t}], policy_error: $t,
		gpus: [{device: $t, driver: $t, vram_total: 100, vram_used: -5, unreadable: $t, clients: "no list", rings: [{ring: $t, age_ns: 5,
			timeout_ns: -1}], lockup: [7]}],
		processes: [{pid: -1, engine: $t, backend: $t, model: $t, context: 99999999999999}, 17, null],
		breakers: [{model: $t, state: $t}], workloads: 3,
		alarms: [{id: 1, hazard: $t, level: 77, since_ns: 1, device: $t, comm: $t, pid: 1, because: $t, until_ns: 8e18}]},
		recent: {decisions: [{number: 0, text: $t, json: {at_ns: 8e12, id: 1, rung: "note", hazard: $t, level: -3, comm: $t, pid: 1}},
			{text: 5, json: []}], events: [{number: 0, text: $t, json: {at_ns: -8e18, event: $t}}]}}' |
		sed -E 's/([0-9])\.0\b/\1/g; s/9e\+12|9e12/9000000000000/g'
}
# Large numbers in each row of memory: a device of 192 GiB in a host of 2 TiB; VRAM and GTT fill.
large_record() {
	jq -nc '{status: {mode: "advise", events: 1, dropped: 0, now_ns: 9000000000000, wall_s: 1700000000, started_ns: 1000000000000,
		gpus: [{device: "0000:c1:00.0", driver: "amdgpu", evictions: 123456,
			vram_total: 206158430208, vram_used: 195000000000, vram_full_in_ms: 119000,
			gtt_total: 1030792151040, gtt_used: 130792151040, gtt_full_in_ms: 119000,
			host_total: 2061584302080, host_available: 111584302080}]}}'
}
clean() { ! grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$1"; }

offline_checks() {
	local size heap hostile_top=$O/san/davylamp-top # built with ASan and UBSan
	check "top without an agent exits with 4" exits 4 "$davylamp" top --socket "$top_dir/none"
	check "top without an agent shows how to start one" says "davylamp run"
	check "top --interval without a time exits with 2" exits 2 "$davylamp" top --interval soon
	check "top with a word too many exits with 2" exits 2 "$davylamp" top now
	check "top --replay of a missing file exits with 1" exits 1 "$davylamp" top --replay "$top_dir/none"
	check "the error names the missing file" says "'$top_dir/none': No such file"
	echo '{"not": "an answer"}' >"$top_dir/wrong"
	check "top --replay of another file exits with 1" exits 1 "$davylamp" top --replay "$top_dir/wrong"
	check "davylamp-top uses ncurses" links_ncurses "$davylamp_top"
	check "the agent's program links no ncurses" not links_ncurses "$davylamp"
	hostile_record >"$top_dir/hostile"
	check "a hostile answer is valid JSON" jq -e . "$top_dir/hostile" >"$top_dir/said"
	for size in 80x24 200x60 1x1; do
		check "a hostile answer is survived at $size" bash -c "LC_ALL=C.UTF-8 COLUMNS=${size%x*} LINES=${size#*x} '$hostile_top' --once \
			--replay '$top_dir/hostile' >'$top_dir/hostile.$size'"
		check "its escapes do not reach the terminal at $size" clean "$top_dir/hostile.$size"
	done
	check "a screen shows what is left of a hostile text" grep -q 'x?\[2J?\]0;owned' "$top_dir/hostile.80x24"
	large_record >"$top_dir/large"
	for size in 80 100 120; do
		LC_ALL=C.UTF-8 COLUMNS=$size LINES=24 "$davylamp" top --once --replay "$top_dir/large" | sed -E 's/\[[#.]+\] ?//g' >"$top_dir/large.$size"
		for heap in "VRAM 185966/196608 MiB 94 % full in 119.0 s" "GTT 124733/983040 MiB 12 % full in 119.0 s" "host 1859664/1966080 MiB 94 %"; do
			check "$size columns have all of the largest numbers: ${heap%% *}" grep -qF "$heap" "$top_dir/large.$size"
		done
	done
	"$hostile_top" --replay "$top_dir/hostile" | tail -n +4 >"$top_dir/lines"
	check "on a pipe, a hostile text stays on its line" test "$(wc -l <"$top_dir/lines")" = 3
	check "on a pipe, escapes do not reach the terminal" clean "$top_dir/lines"
}

# SPDX-License-Identifier: GPL-2.0-or-later
#
# The exporter, built with ASan and UBSan, beside sockets that answer as no agent does. Sourced by tests/exporter/run.

answers_within() { # SECONDS PORT PATTERN
	local began=$SECONDS
	has_metric "$2" "$3" && [[ $((SECONDS - began)) -le $(($1 * PATIENCE)) ]]
}
each_line_is_a_sample() { # of at most 2048 series, no two of which are the same
	metrics "$1" >"$work/metrics"
	! grep -vE '^(# (HELP|TYPE|UNIT) [a-z_]+ [a-zA-Z0-9 ,./:;_-]+|# EOF|davylamp_[a-z_]+(\{([a-z]+="[A-Za-z0-9_.:/-]*",?)+\})? [0-9]+(\.[0-9]+)?)$' "$work/metrics" &&
		[[ $(grep -vc '^#' "$work/metrics") -le 2048 && -z $(grep -v '^#' "$work/metrics" | sed 's/ [0-9.]*$//' | sort | uniq -d) ]]
}

hostile_checks() {
	local kind port=$((base + 3)) up
	local exporter_program=$O/san/davylamp-exporter
	local -x ASAN_OPTIONS=detect_leaks=0 # it would need ptrace, which the exporter may not use
	for kind in nothing full closed garbage deep text empty cut other error wrong endless strange many; do
		/usr/bin/python3 tests/exporter/hostile.py "$work/hostile.$kind" "$kind" 2>"$work/hostile.err" &
		hostile=$!
		until_true 5 test -S "$work/hostile.$kind"
		start_exporter "$port" -- --socket "$work/hostile.$kind"
		up=0
		[[ $kind != strange && $kind != many ]] || up=1
		check "an agent's socket that answers '$kind' gives davylamp_up $up in time" answers_within 6 "$port" "^davylamp_up $up\$"
		check "after '$kind', the second answer is the same" answers_within 6 "$port" "^davylamp_up $up\$"
		if [[ $up == 1 ]]; then
			check "every line for '$kind' is a valid sample, and each series is there once" each_line_is_a_sample "$port"
			curl -sf -H 'Accept: text/plain' "http://127.0.0.1:$port/metrics" >"$work/plain"
			[[ ! -x $CACHE/prometheus/usr/bin/promtool ]] || check "promtool accepts the metrics for '$kind'" bash -c \
				"'$CACHE/prometheus/usr/bin/promtool' check metrics <'$work/plain'"
		fi
		check "the exporter survives '$kind' without an error of a sanitizer" bash -c "kill -0 $exporter && ! grep -qE 'ERROR:|runtime error' '$work/exporter.$port.err'"
		[[ $kind != many ]] || check "series without room are counted" grep -qE '^davylamp_exporter_series_dropped [1-9]' "$work/metrics"
		end "$exporter"
		end "$hostile"
	done
	hostile=''
}

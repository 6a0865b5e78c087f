# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the rules of backends and settings make of a command, by 'davylamp exec'; tests/cli/run calls these.

put_rules() {
	mkdir -p "$work/rules"
	printf '%s\n' '[rule small]' 'if model = tiny*' 'ubatch = 128' 'context = 4096' 'cache_type = f16' \
		'environment DAVYLAMP_TEST_RULE = yes' 'argument -fa = auto' "${@}" >"$work/rules/backend.conf"
}
# starts_as PROGRAM WORDS EXEC_ARGUMENT...: what it would start ends so.
starts_as() {
	local p=$1 words=$2
	shift 2
	said=$("$p" exec --dry-run --config "$work/rules" --state "$work/stateless" --socket "$work/none" "$@" 2>&1)
	grep -qxF "would start: $words" <<<"$said"
}

# rules_checks PROGRAM: without an agent.
rules_checks() {
	local p=$1
	put_rules 'because = they say so'
	check "exec heeds people's rules" starts_as "$p" \
		"llama-server -m tiny.gguf --ubatch-size 128 --ctx-size 4096 -fa auto -ctk f16 -ctv f16" -- llama-server -m tiny.gguf
	check "and tells each with its line" says "policy: ubatch = 128 ($work/rules/backend.conf:3, rule small): they say so"
	check "what the command has less of stays" starts_as "$p" \
		"llama-server -m tiny.gguf -ub 64 -c 512 -fa off -ctk q8_0" -- llama-server -m tiny.gguf -ub 64 -c 512 -fa off -ctk q8_0
	check "another model is none of theirs" starts_as "$p" "llama-server -m large.gguf" -- llama-server -m large.gguf
	check "nor another program" starts_as "$p" "true -m tiny.gguf" -- true -m tiny.gguf
	mkdir -p "$work/bin"
	printf '#!/bin/sh\nenv\n' >"$work/bin/llama-server"
	chmod +x "$work/bin/llama-server"
	check "variables reach the engine" bash -c "'$p' exec --config '$work/rules' --state '$work/stateless' --socket '$work/none' -- \
		'$work/bin/llama-server' -m tiny.gguf 2>/dev/null | grep -qx DAVYLAMP_TEST_RULE=yes"
	check "unless they are set" bash -c "DAVYLAMP_TEST_RULE=no '$p' exec --config '$work/rules' --state '$work/stateless' --socket '$work/none' -- \
		'$work/bin/llama-server' -m tiny.gguf 2>/dev/null | grep -qx DAVYLAMP_TEST_RULE=no"
	put_rules 'backends = cpu' 'warn = it died there'
	check "a rule for the CPU is obeyed" starts_as "$p" "llama-server -m tiny.gguf --ubatch-size 128 --ctx-size 4096 -fa auto \
-ctk f16 -ctv f16 --device none --device-draft none --split-mode layer --gpu-layers 0 --gpu-layers-draft 0 --no-op-offload \
--no-mmproj-offload --no-kv-offload" -- llama-server -m tiny.gguf
	check "unless somebody insists" starts_as "$p" \
		"llama-server -m tiny.gguf --device Vulkan0 --ubatch-size 128 --ctx-size 4096 -fa auto -ctk f16 -ctv f16" --backend vulkan -- llama-server -m tiny.gguf
	check "who is warned" says "policy: vulkan is known to fail here: it died there; starting on vulkan anyway"
	put_rules 'parallel = many'
	check "wrong rules are told, and nothing of them is taken" starts_as "$p" "llama-server -m tiny.gguf" -- llama-server -m tiny.gguf
	check "with file, line and column" says "$work/rules/backend.conf:8:12: "
}

# rules_of_agent_checks PROGRAM: an agent with good rules runs with --config $work/rules.
rules_of_agent_checks() {
	local p=$1
	put_rules 'parallel = many'
	check "a reload with wrong rules fails" exits 1 "$p" policy reload --socket "$work/sock"
	check "status tells until it is mended" bash -c "'$p' status --socket '$work/sock' | grep -q 'policy: .*backend.conf:8:12: .*the previous rules stay in force'"
	check "a start goes by the rules from before" bash -c "'$p' exec --dry-run --config '$work/rules' --state '$work/stateless' --socket '$work/sock' -- \
		llama-server -m tiny.gguf 2>&1 | grep -q 'would start: llama-server -m tiny.gguf --ubatch-size 128'"
	put_rules
	check "mended, it is read" exits 0 "$p" policy reload --socket "$work/sock"
	check "and status says no more of it" bash -c "'$p' status --json --socket '$work/sock' | jq -e '.policy_error == \"\"' >/dev/null"
}

# pin_checks PROGRAM
pin_checks() {
	local p=$1 at=$work/pins/backend.conf tuned
	rm -rf "$work/pins" "$work/tuned"
	mkdir -p "$work/pins" "$work/tuned"
	printf '[rule tuned-vulkan]\nif model = tiny.gguf\nubatch = 64\n' >"$work/tuned/backend.conf"
	pinned() { "$p" exec --dry-run --config "$work/pins" --state "$work/tuned" --socket "$work/none" -- llama-server -m tiny.gguf 2>&1; }
	printf '# of people\n[rule own] ; and this' >"$at"
	check "wrong rules are not added to" exits 1 "$p" policy pin --config "$work/pins" --model tiny.gguf ubatch=256
	check "and told" says "backend.conf:"
	printf '# of people\n[rule own]\nif model = other*\nubatch = 32' >"$at"
	cp "$at" "$work/pins.own"
	check "before, the agent's rule is heeded" grep -q -- '--ubatch-size 64' <(pinned)
	check "policy pin writes a rule" exits 0 "$p" policy pin --config "$work/pins" --model tiny.gguf backend=vulkan ubatch=256
	check "and names it" says "pinned: rule pinned-1 in $at"
	check "which beats the agent's" grep -q -- '--ubatch-size 256' <(pinned)
	check "what people wrote stays, byte for byte" cmp -n "$(stat -c %s "$work/pins.own")" "$at" "$work/pins.own"
	check "as JSON, too" bash -c "'$p' policy pin --json --config '$work/pins' backends=cpu | jq -e '.rule == \"pinned-2\"' >/dev/null"
	check "a value that is none is told, with its column" exits 2 "$p" policy pin --config "$work/pins" ubatch=many
	check "and is not written" not grep -q many "$at"
	check "pin wants something" exits 2 "$p" policy pin --config "$work/pins" --model tiny.gguf
	check "a word that is none, too" exits 2 "$p" policy pin --config "$work/pins" fast
	check "unpin takes one out" exits 0 "$p" policy unpin --config "$work/pins" pinned-1
	check "the other one stays" grep -q '^.rule pinned-2.$' "$at"
	check "unpin takes the other out" exits 0 "$p" policy unpin --config "$work/pins" pinned-2
	check "and nothing is left of them" cmp <(cat "$work/pins.own"; echo) "$at"
	check "what people wrote is theirs to remove" exits 4 "$p" policy unpin --config "$work/pins" own
	check "then the agent's rule is heeded again" grep -q -- '--ubatch-size 64' <(pinned)
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034,SC2207
# The completions as installed: bash's words against --help, zsh's and fish's, which are made from it. Sourced by
# tests/cli/run.

# bash_words WORD...: what the bash completion offers after "davylamp WORD...".
bash_words() {
	(
		. "$STAGE/usr/share/bash-completion/completions/davylamp"
		COMP_WORDS=("$installed" "$@" '') COMP_CWORD=$(($# + 1)) COMPREPLY=()
		_davylamp
		printf '%s\n' "${COMPREPLY[@]}"
	)
}
help_words() { "$STAGE/usr/share/davylamp/words" "$installed" "$@" | cut -f 1; }
options_of() { grep -x -- '--[a-z].*' | sort -u; }
bash_agrees() { diff <(bash_words "$@" | options_of) <(help_words "$@" | options_of); }

zsh_words() {
	zsh -fc '_describe() { print -l -- "${(@P)2}"; }; _files() { print files; }; _normal() { print normal; }
		file=$1; shift; words=("$@" ""); CURRENT=$#words; source $file' zsh "$work/_davylamp" "$installed" "$@" | cut -d: -f1
}
fish_words() { fish -c "set PATH $STAGE/usr/sbin \$PATH; source $work/davylamp.fish; complete -C 'davylamp $* '" | cut -f 1; }

# shell_checks SHELL FUNCTION
shell_checks() {
	local place

	check "$1 offers all verbs" diff <("$2" | sort) <(help_words | sort)
	for place in doctor policy "policy explain" "act pause 1" "trace discovery"; do
		check "$1 offers what --help of '$place' has" diff <($2 $place | sort) <(help_words $place | sort)
	done
}

completion_checks() {
	local verb

	check "bash offers all verbs" diff <(bash_words | sort) <(help_words | sort)
	for verb in run status top doctor "act pause 1" report replay log release "policy explain" "policy write" "trace discovery" "trace synth"; do
		check "bash offers the options that --help of '$verb' has" bash_agrees $verb
	done
	check "the words after an option with a value are left to the shell" test "" = "$(help_words run --mode)"
	sed "s|/usr/share/davylamp|$STAGE&|" "$STAGE/usr/share/zsh/site-functions/_davylamp" >"$work/_davylamp"
	sed "s|/usr/share/davylamp|$STAGE&|" "$STAGE/usr/share/fish/vendor_completions.d/davylamp.fish" >"$work/davylamp.fish"
	if command -v zsh >/dev/null; then
		shell_checks zsh zsh_words
		check "zsh offers files after an option with a value" test files = "$(zsh_words run --record)"
		check "zsh completes the command after --" test normal = "$(zsh_words exec -- ls)"
	else
		skip "zsh's completion" "zsh is not installed"
	fi
	if command -v fish >/dev/null; then
		shell_checks fish fish_words
	else
		skip "fish's completion" "fish is not installed"
	fi
}

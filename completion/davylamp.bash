# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for davylamp

_davylamp() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "run exec status probe policy replay log release --help --version" -- "$cur")
		return
	fi
	case $prev in
	--mode) words="observe advise enforce" ;;
	--backend) words="auto vulkan cpu" ;;
	--module) words="amdgpu gpu_sched ttm drm" ;;
	--record | --socket) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	--state | --config) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	*)
		case $verb in
		run) words="--mode --json --record --socket --state --config --verbose --help" ;;
		exec) words="--backend --dry-run --socket --state --help --" ;;
		status) words="--sensors --programs --json --socket --help" ;;
		probe)
			words="vulkan engine --device --port --timeout --uid --gid --groups --memory --agent"
			words+=" --socket --json --help" ;;
		policy) words="show --json --state --help" ;;
		release) words="--module --socket --help" ;;
		replay | log) mapfile -t COMPREPLY < <(compgen -f -W "--json --help" -- "$cur"); return ;;
		esac ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _davylamp davylamp

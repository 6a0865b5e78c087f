# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for davylamp

# Numbers, engines and units of running workloads; users may have named a unit, and compgen expands its words.
_davylamp_engines() {
	"${COMP_WORDS[0]}" status --json 2>/dev/null |
		grep -oE '"(workload|engine|unit)": ?("[A-Za-z0-9@_.:-]+"|[1-9][0-9]*)' | sed 's/.*: *//; s/"//g' | sort -u
}

_davylamp() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "run exec status top exporter probe doctor act report fleet policy replay trace tune log schema release --help --version" -- "$cur")
		return
	fi
	case $prev in
	--mode) words="observe advise enforce" ;;
	--backend)
		words="auto vulkan rocm cuda sycl cpu"
		[[ $verb != policy ]] || words="vulkan rocm cuda sycl cpu" ;;
	--force-gpu) words="vulkan rocm cuda sycl" ;;
	--known) words="yes no" ;;
	--upstream) words="drm-amd llama.cpp ollama" ;;
	--unit) mapfile -t COMPREPLY < <(compgen -W "$(systemctl list-units --type=service --plain \
			--no-legend 2>/dev/null | cut -d' ' -f1)" -- "$cur"); return ;;
	--user) mapfile -t COMPREPLY < <(compgen -u -- "$cur"); return ;;
	--vendor) words="amd intel nvidia" ;;
	--kind) words="igpu dgpu" ;;
	--generation) words="gen7 gen8 gen9 gen11 gen12 xe-hpg xe-lpg xe2 xe3" ;;
	--of) words="pause throttle" ;;
	--module) words="amdgpu gpu_sched ttm drm" ;;
	--record | --replay | --socket | --textfile | --policy | --out) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	--engine | --model | --pid)
		if [[ $verb == doctor ]]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
		fi ;;
	--state | --config | --policies | --models-dir) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
	*)
		case $verb in
		run) words="--mode --json --record --socket --state --config --verbose --help" ;;
		exec)
			words="--model --backend --force-cpu --force-gpu --prefer-gpu --gpu-only --device --memory-max --vram-max"
			words+=" --explain --dry-run --json --slots --reserve --socket --state --config --policies --help --" ;;
		status) words="--sensors --programs --json --socket --help" ;;
		top) words="--json --once --allow-act --interval --record --replay --socket --help" ;;
		exporter) words="--listen --textfile --interval --socket --state --help" ;;
		fleet)
			words="--model --device --config --state --socket --json --help"
			[[ $COMP_CWORD -ne 2 ]] || words="run status evidence export import --help"
			[[ ${COMP_WORDS[2]} != import ]] || { mapfile -t COMPREPLY < <(compgen -f -W "$words" -- "$cur"); return; } ;;
		report)
			mapfile -t COMPREPLY < <(compgen -f -W "--list --html --json --upstream --redact --socket --help" -- "$cur")
			return ;;
		probe)
			words="vulkan engine --device --port --timeout --uid --gid --groups --memory --agent"
			words+=" --socket --json --help" ;;
		doctor)
			words="--unit --user --pid --engine --model --timeout --apply --overview --all --policies --config --state --socket"
			words+=" --json --help --" ;;
		act)
			words="--lease --duty --ubatch --context --parallel --backend --bytes --vram --cpu --of --dry-run --json --socket --help"
			[[ $COMP_CWORD -ne 2 ]] || words="pause throttle shrink restart migrate_cpu switch stop quarantine cap awake undo --help" ;;
		policy)
			if [[ ${COMP_WORDS[2]} == check ]]; then
				mapfile -t COMPREPLY < <(compgen -f -W "--json --config --help" -- "$cur")
				return
			fi
			if [[ ${COMP_WORDS[2]} == explain ]]; then
				words="--engine --model --device --backend --force --available --context --driver --vendor --kind"
				words+=" --pci --gfx --generation --compute-units --firmware --kernel --lockup --known --policies --config --state"
				[[ $COMP_CWORD -ne 3 ]] || words+=" $(_davylamp_engines)"
				mapfile -t COMPREPLY < <(compgen -W "$words --socket --json --help" -- "$cur")
				return
			fi
			if [[ ${COMP_WORDS[2]} == show && $COMP_CWORD -eq 3 ]]; then
				mapfile -t COMPREPLY < <(compgen -W "$(_davylamp_engines) --json --state --socket --help" -- "$cur")
				return
			fi
			if [[ ${COMP_WORDS[2]} == write ]]; then
				words="env router-preset ollama llama-swap lemonade compose quadlet k8s --out --model --models-dir --server --container --engine --device"
				words+=" --available --context --driver --vendor --kind --pci --gfx --generation --compute-units --firmware"
				words+=" --kernel --lockup --known --backend --force --policies --config --state"
				mapfile -t COMPREPLY < <(compgen -W "$words --json --help" -- "$cur")
				return
			fi
			if [[ ${COMP_WORDS[2]} == @(export|import) ]]; then
				mapfile -t COMPREPLY < <(compgen -f -W "--json --state --socket --help" -- "$cur")
				return
			fi
			words="show explain write check reload pin unpin ledger history diff rollback export import forget adopt adopted release"
			words+=" --json --state --config --socket --model --device --all --help" ;;
		trace)
			words="scenarios synth discovery --seed --count --duration --out --json --help"
			if [[ ${COMP_WORDS[2]} == discovery && $COMP_CWORD -gt 2 ]]; then
				words="--pid --unit --timeout --out --socket --json --help --"
			fi
			if [[ ${COMP_WORDS[2]} == synth && $COMP_CWORD -eq 3 ]]; then
				words="failures benign days all check check2 check3 check4 check5 check6 check7 $("${COMP_WORDS[0]}" trace scenarios 2>/dev/null | cut -d' ' -f1)"
			fi ;;
		tune)
			mapfile -t COMPREPLY < <(compgen -f -W "--policy --grid --limits --score-only --apply --state --config --jobs \
				--json --help" -- "$cur")
			return ;;
		schema) words="status decision event report process --policies --help" ;;
		release) words="--module --all --socket --state --help" ;;
		replay)
			mapfile -t COMPREPLY < <(compgen -f -W "--json --summary --final --policy --help" -- "$cur")
			return ;;
		log) mapfile -t COMPREPLY < <(compgen -f -W "--json --help" -- "$cur"); return ;;
		esac ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _davylamp davylamp

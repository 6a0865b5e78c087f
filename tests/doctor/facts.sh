# SPDX-License-Identifier: GPL-2.0-or-later
# Other vendors, module parameters, memory, hostile names, no GPU; sourced by tests/doctor/run.

echo "== Intel and NVIDIA"
empty_host
gpu 0x8086 0x9a49 i915
service_runs "${radv[@]}"
with_engine
check "Level Zero is probed on an Intel GPU, and hostile names are sanitized" found runtime.levelzero ok \
	'.evidence | test("Intel\\(R\\) Stand-in \\\\x1b.31mGraphics\\\\x0a")'
check "Ollama drops an integrated GPU" found config.igpu failure '.fix | test("OLLAMA_IGPU_ENABLE=1")'
service_runs "${radv[@]}" OLLAMA_IGPU_ENABLE=1 STANDIN_ZE=abort
with_engine
check "OLLAMA_IGPU_ENABLE keeps an integrated GPU" found config.igpu ok
check "a crash of zeInit selects Vulkan" concludes 1 '(.causes | map(.check)) == ["runtime.levelzero"] and .policy.backends == ["vulkan", "cpu"]'
empty_host
gpu 0x10de 0x2330 nvidia
for n in ctl:255 -uvm:0 0:0; do mknod -m 666 "$LAB_ROOT/dev/nvidia${n%:*}" c 1 3; done
put /sys/module/nvidia/version 580.159.04
service_runs STANDIN_NVML=ok STANDIN_NVML_BUS=04
of_service --model "$here/tiny.gguf"
check "the size of NVIDIA's memory is NVML's" found model.memory ok '.evidence | test("the GPU 16384 MiB")'
check "the NVIDIA driver's version" found driver.bound ok '.evidence == "nvidia 580.159.04"'
check "the NVIDIA device files" found access.open ok '.about == "/dev/nvidia-uvm"'
check "NVML finds the GPU" found runtime.nvml ok '.evidence | test("NVIDIA Stand-in")'
# The device that Vulkan named on a real H200 without a DRM device: the fault layer names lavapipe so.
fault "ok type=discrete vendor=0x10de device=0x2335 heap=143771M name=NVIDIA H200"
service_runs STANDIN_NVML=ok STANDIN_NVML_BUS=04 VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json \
	VK_LAYER_PATH="$inside" VK_INSTANCE_LAYERS=VK_LAYER_DAVYLAMP_fault DAVYLAMP_VKFAULT="$inside/fault"
of_service --engine /usr/bin/llama-server
check "Vulkan computes on a GPU without a DRM device" found runtime.vulkan ok '.evidence | test("1 device: NVIDIA H200")'
check "the engine finds that GPU" found engine.discovery ok '.about == "Vulkan" and (.evidence | test("Vulkan0: NVIDIA H200 .143771 MiB"))'
fault ok
libraries=$here/half:$here/lib service_runs
of_service
check "a missing symbol of NVML" found runtime.nvml failure '.evidence | test("no symbol .nvmlDeviceGetMemoryInfo")'
rm "$LAB_ROOT/dev/nvidia-uvm"
service_runs
of_service
check "a missing nvidia-uvm is a cause" concludes 1 'any(.causes[]; .check == "nodes.present" and .about == "/dev/nvidia-uvm")'

echo "== module parameters"
mi50
printf 'quiet amdgpu.runpm=0 amdgpu.cwsr_enabel=0 amdgpu.lockup_timeout=10000,10000,10000,10000\n' >"$work/cmdline"
mount --bind "$work/cmdline" "$LAB_ROOT/proc/cmdline"
put /etc/modprobe.d/gpu.conf '# options amdgpu noretry=1
options amdgpu vm_size=0x100 gpu_recovery="1"
options snd-hda-intel power_save=1'
put /sys/module/amdgpu/parameters/runpm -1
put /sys/module/amdgpu/parameters/lockup_timeout 10000
put /sys/module/amdgpu/parameters/vm_size 256
put /sys/module/amdgpu/parameters/gpu_recovery 1
at_pci power/control auto
service_runs "${radv[@]}"
of_service
umount "$LAB_ROOT/proc/cmdline"
check "a parameter that is not in effect is reported" found driver.parameters warning '.about == "amdgpu.runpm" and (.evidence | test("sets .0., but the kernel has .-1."))'
check "a parameter with a typing error is reported" found driver.parameters warning '.about == "amdgpu.cwsr_enabel" and (.evidence | test("no parameter of this name"))'
check "a value truncated by the driver is accepted" found driver.parameters ok '.about == "amdgpu.lockup_timeout"'
check "another notation of a number is accepted" found driver.parameters ok '.about == "amdgpu.vm_size"'
check "a quoted value is accepted" found driver.parameters ok '.about == "amdgpu.gpu_recovery" and (.evidence | test("modprobe.d/gpu.conf"))'
check "other modules and comments are ignored" bash -c "! grep -qE 'power_save|noretry' '$report'"
check "a GPU without a display that may suspend is reported" found driver.sleep warning '.fix | test("echo on > ")'

echo "== a batch against the lockup timeout"
printf '[rule mine]\nif backend = vulkan\nif lockup_below = 3 s\nubatch = 64\n' >"$rules"
of_service
check "a long timeout needs no smaller batch" found model.lockup ok '.evidence == "jobs are ended after 10000 ms, batch 512"'
put /sys/module/amdgpu/parameters/lockup_timeout 2000
of_service
check "a timeout of two seconds is fixed by the rule's batch" found model.lockup warning \
	'(.evidence | test("after 2000 ms, batch 512: long prompts")) and (.fix | test("-ub 64.*amdgpu.lockup_timeout=10000"))'
put /sys/module/amdgpu/parameters/lockup_timeout -1
of_service
check "a disabled timeout is valid" found model.lockup ok '.evidence == "jobs are never ended, batch 512"'
rm "$rules"

echo "== memory"
of_service --model "$here/tiny.gguf"
check "a model that fits is valid" found model.memory ok
at_pci mem_info_vram_total 1000000
of_service --model "$here/tiny.gguf"
check "a model that does not fit is reported" found model.memory warning '.evidence | test("it does not fit")'
of_service --model "$here/service"
check "an invalid model file could not be checked" found model.memory could-not-check

echo "== hostile names"
bad=$here/$'evil\n\e[31m\xff'
mkdir -p "$LAB_ROOT$bad"
cp "$LAB_ROOT$here/service" "$LAB_ROOT$bad/llama-server"
mi50
service_runs "${radv[@]}" ROCR_VISIBLE_DEVICES=$'-1\n\e]0;x\a\xff' STANDIN_HSA=zero
of_service --engine "$bad/llama-server" --model "$bad/none.gguf"
check "every line is a JSON object" bash -c "jq -es 'all(.[]; type == \"object\")' '$report' >/dev/null &&
	test \$(wc -l <'$report') == \$(jq -s length '$report')"
check "hostile values are sanitized" concludes 1 '(.text | test("-1\\\\x0a\\\\x1b\\]0;x\\\\x07\\\\xff"))'
LD_LIBRARY_PATH="$here/lib" chroot "$LAB_ROOT" "$here/davylamp" doctor --pid "$service" --engine "$bad/llama-server" \
	--model "$bad/none.gguf" --timeout 4 >"$work/text" 2>&1
check "the text has no control bytes" bash -c "! LC_ALL=C grep -qP '[\\x00-\\x08\\x0b-\\x1f\\x7f\\xff]' '$work/text'"
check "the text names the root cause" grep -q '^root cause: .*a variable hides the GPU (no ROCm)' "$work/text"
check "each failure has a fix and a command that verifies it" bash -c "grep -A2 FAILURE '$work/text' | grep -c 'fix:' | grep -qv '^0' && grep -A2 FAILURE '$work/text' | grep -q 'verify:'"

echo "== other engines"
(
	export "${radv[@]}"
	doctor --user root --engine llama-server
)
check "--engine finds a program in PATH by its name" found engine.discovery ok '.about == "Vulkan"'
service_runs "${radv[@]}"
of_service -- "$here/opt/lib/ollama/llama-server" --version
check "a user's command that succeeds is valid" found engine.discovery ok
of_service -- "$here/no-such-engine" x
check "a missing command is reported" found engine.discovery failure '.evidence | test("cannot be run: No such file")'
of_service -- "$here/davylamp-probe" confined
check "the command runs without privileges in the sandbox" found engine.discovery ok

echo "== users"
end_service
doctor --user ollama
check "a user by name has the groups of /etc/group" found access.service ok '.evidence | test("user ollama .1998., group 1998, further groups .*1109")'
check "the user by name can open the device" found access.open ok
doctor --user 1234:1235:7,$render
check "a user by numbers has the given groups" found access.service ok '.evidence | test("user 1234 .1234., group 1235, further groups 7 1109")'
check "the user by numbers can open the device" found access.open ok '.about == "/dev/kfd"'
doctor --user 1234
check "a user without the group cannot open the device" found access.open failure '.about == "/dev/kfd"'
# Without root the doctor tests only the caller.
as=(--userspec=$uid:$uid --groups=$render)
doctor --user ollama
check "without root the caller is tested" found access.open ok '.about == "/dev/kfd"'
check "skipped checks are a finding" found self.capabilities could-not-check
doctor --user 1234
check "another user cannot be tested" found access.open could-not-check '.fix | test("as root")'
check "runtimes of another user cannot be tested" found runtime.rocm could-not-check '.evidence | test("only root can run programs as another user")'
as=()
doctor --user nobody-at-all
check "an unknown user is refused" test "$status" == 2
check "the message names the unknown user" grep -q "no user 'nobody-at-all'" "$work/err"
doctor --pid 0
check "an invalid pid is refused" test "$status" == 2

echo "== no GPU"
empty_host
doctor --user ollama --engine "$here/opt/bin/ollama"
check "a host without a GPU gives exit status 4" concludes 4 '.kind == "no-gpu" and .causes == [] and .policy == null'
check "the conclusion says what could not be checked" concludes 4 '.text | test("this host has no GPU.*could not be checked")'
check "a finding reports the missing GPU" found driver.gpu could-not-check
doctor
unnamed() { # other users of this machine may have an engine running
	found access.service could-not-check '.fix | test("--unit UNIT")' || found access.service ok '.evidence | test("as in its process")'
}
check "root without a service gets a hint, or the only running engine" unnamed

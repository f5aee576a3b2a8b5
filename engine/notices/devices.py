"""The texts of what ``engine/devices`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "devices.reads_telemetry": "the process that reads it",
    "devices.opening_library": "opening the driver's library",
    "devices.asking_driver": "asking the driver",
    # why a device cannot be used: DeviceDescription.problem
    "devices.search_ended": "the search failed: {problem}",
    "devices.search_failed": "the search for devices failed: {problems}; 'framefleet doctor' says what is missing",
    "devices.no_such_cpu": (
        "there is no {device}: this machine has {devices} ({count} core can be used)",
        "there is no {device}: this machine has {devices} ({count} cores can be used)",
    ),
    "devices.none_found": "the search for devices found none; 'framefleet doctor' says what is missing",
    "devices.none_usable": "no device can be used ({reasons}); 'framefleet doctor' says what is missing",
    "devices.no_libraries": "its libraries are not installed: {problem}",
    "devices.no_cuda_python": "cuda-python is not installed ({problem}): {advice}",
    "devices.no_nvidia_ml": "nvidia-ml-py is not installed: {advice}",
    "devices.no_driver": "there is no NVIDIA driver: its library libnvidia-ml cannot be found",
    "devices.driver_not_installed": "NVIDIA's driver is not installed",
    "devices.driver_silent": "NVIDIA's driver does not answer ({problem}): {remedy}",
    "devices.driver_not_asked": "NVIDIA's driver cannot be asked: {problem}",
    "devices.no_answer": "the process printed no answer",
    "devices.driver_too_old": "its driver {driver} supports CUDA {supported}, {needed} is needed: install driver {needed_driver} or newer",
    "devices.cuda_not_started": "CUDA cannot be started ({problem}): {remedy}",
    "devices.mode_prohibited": "its compute mode is Prohibited: 'nvidia-smi -i {uuid} -c DEFAULT', as administrator, allows it",
    "devices.mode_exclusive": (
        "process {process} uses it, and its compute mode is Exclusive: end that process, or 'nvidia-smi -i {uuid} -c DEFAULT', "
        "as administrator, allows it"
    ),
    "devices.mig_without_instance": (
        "MIG mode is on without an instance: 'nvidia-smi mig -i {uuid} -cgi PROFILE -C' creates one, "
        "'nvidia-smi -i {uuid} -mig 0' turns MIG off (both as administrator)"
    ),
    "devices.hidden_by_variable": "hidden by CUDA_VISIBLE_DEVICES={setting}",
    "devices.not_shown": "CUDA does not show it: restart the machine, or install the driver again",
    # what to do
    "devices.restart": "restart the machine",
    "devices.restart_or_reinstall": "restart the machine, or install the driver again",
    "devices.start_fabric_manager": (
        "the fabric manager of its NVSwitches does not run: 'systemctl start nvidia-fabricmanager', as administrator"
    ),
    "devices.driver_mismatch": "the driver's libraries and its kernel module are of different versions: restart the machine",
    "devices.compatibility_library": "a compatibility library is loaded instead of the driver's own: remove it from LD_LIBRARY_PATH",
    "devices.driver_not_loaded": "its kernel module is not loaded: restart the machine, or install the driver again",
    "devices.no_permission": "this user may not use /dev/nvidia*: check its groups, or how the container was started",
    # why a GPU lowers its clocks: Telemetry.throttling
    "devices.clocks_by_application": "clocks set by an application",
    "devices.power_limit": "power limit",
    "devices.hardware_slowdown": "hardware slowdown",
    "devices.sync_boost": "sync boost",
    "devices.temperature": "temperature",
    "devices.temperature_hardware": "temperature (hardware)",
    "devices.power_brake": "power brake",
    "devices.clocks_of_display": "clocks of the display",
    # telemetry
    "devices.telemetry_not_started": "telemetry cannot be started: {error}",
    "devices.telemetry_ended": "telemetry is not available: {reason}",
    # recordings of other machines
    "devices.no_recording": (
        "{path} is not a recording of a machine: {fault}; give a JSON file with NVML's values of each GPU in a list 'gpus'"
    ),
    "devices.recording_without_gpus": "it is JSON, but has no list 'gpus'",
    "devices.recording_is_topology": "it was written by 'framefleet topology --json', which holds less",
    "devices.recording_empty": "it is empty",
    "devices.recording_no_text": "it is not text",
    "devices.recording_cut_off": "it ends too early: it was probably cut off",
    "devices.recording_wrong_json": "its JSON is wrong in line {line}",
    "devices.recording_no_json": "its JSON cannot be read",
    "devices.recording_is_folder": "{path} is a folder: give the recording itself, a JSON file",
    "devices.recording_unreadable": "the recording {path} cannot be read: {reason}; check the name and its permissions",
}

"""The texts of what ``engine/media/live`` and the pool tell a person about cameras and streams."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    # addresses
    "live.no_host": "{address} is not an address of a stream: write rtsp://HOST/PATH or http://HOST/PATH",
    "live.netrc_not_read": "{path} cannot be read as a netrc file: {detail}",
    "live.no_file": "{path} is not a file, and only a file can be followed",
    # why the state of a source changes
    "live.asked": "the run began",
    "live.opened": "the source answers: {codec}, {width}×{height}",
    "live.keyframe": "a keyframe has arrived",
    "live.refused": "the source cannot be opened ({detail})",
    "live.no_answer": "the source has not answered within {seconds:g} s",
    "live.login": "the source refuses the user or the password",
    "live.not_found": "the source does not know this address",
    "live.no_video": "the source sends no video",
    "live.lost": "the connection was lost ({detail})",
    "live.silent": "no frame has arrived for {seconds:.1f} s",
    "live.capture_ended": "the process that reads the source ended unexpectedly ({why})",
    "live.again": "attempt {attempt} begins",
    "live.waits": "the next attempt follows in {seconds:.1f} s: {why}",
    "live.finished": "the source has ended",
    "live.stopped": "the run was stopped",
    "live.gave_up": (
        "the source was given up after {count} attempt: {why}",
        "the source was given up after {count} attempts: {why}",
    ),
    "live.other_host": "the source leads to another host ({host}), which is not opened",
    "live.camera": "camera {number} cannot be opened ({detail})",
    "live.no_decoder": "there is no decoder for {codec}",
    "live.process": "the process that reads a stream",
    "live.decoding": "decoding a frame of {address}",
    # why an epoch begins
    "live.first": "the first frame",
    "live.reconnected": "the source was connected again",
    "live.clock_jumped": "the clock of the source jumped by {seconds:+.1f} s",
    "live.new_format": "the stream changed to {codec}, {width}×{height}",
    "live.new_device": "another device goes on",
    # recording
    "live.recording": "recorded to {folder}",
    "live.recording_ended": "recording has ended",
    "live.disk_nearly_full": "recording rests, because the disk has less than {gib:g} GiB of free space",
    "live.disk_full": "recording rests, because the disk is full",
    "live.not_written": "recording rests, because its file cannot be written ({detail})",
    "live.disk_slow": (
        "{count} frame was not recorded, because the disk could not keep up",
        "{count} frames were not recorded, because the disk could not keep up",
    ),
    "live.no_sound": "the sound ({codec}) cannot be recorded",
    "live.recording_lost": "the source of the recording is lost: {why}",
    # alerts
    "live.alert": "alert: {count} × {labels}",
    "live.alert_part": "'{text}' is not a rule for alerts: '{part}' is not understood; write {keys} as in class=person, count=2, for=3s",
    "live.alert_zone": "there is no zone '{zone}' for alerts: {names}",
    "live.no_zones": "give --zones FILE",
    "live.alert_command": "the command for alerts ({command}) cannot be run: {detail}",
    "live.alert_command_failed": "the command for alerts ({command}) ended with status {status}",
    "live.alert_command_hangs": "the command for alerts ({command}) was ended after {seconds:g} s",
    "live.alerts_wait": "an alert was left out, because {count} wait for their command",
    "live.alert_not_written": "the alert could not be written ({detail})",
    "live.alert_without_still": "the alert has no still: {why}",
    # why frames were not inferred
    "live.before_keyframe": "received before the first keyframe",
    "live.damaged": "damaged, or dependent on a damaged frame",
    "live.device_busy": "a newer frame was there before the device was free",
    "live.decoder_behind": "the decoder could not keep up",
    "live.no_device": "no device was ready",
    "live.device_failed": "the device failed while it had the frame",
    "live.moving": "received while the stream moved to another device",
    "live.not_delivered": "under way when the run or the connection ended",
}

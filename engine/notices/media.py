"""The texts of what ``engine/media`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    # clips and annotated videos
    "media.not_encoded": "the video cannot be encoded ({detail})",
    "media.not_copied": "{path} cannot be copied ({detail}); write exact clips",
    "media.avi_not_copied": "{path}: AVI does not say when its frames are shown, so they cannot be copied; write exact clips",
    "media.codec_not_held": "{path}: {container} cannot hold its codec {codec} ({detail}); write exact clips",
    "media.no_frame_in_clip": "{path} has no frame from {start:.3f} s to {end:.3f} s that can be decoded",
    "media.frame_not_converted": "{path}: the frame at {seconds:.3f} s cannot be converted ({detail})",
    "media.frame_not_found": "{path}: the frame at {seconds:.3f} s was not found again: detect again",
    "media.no_times_for_clips": "{path}: a raw stream has no times, so its clips cannot be found: convert it to MP4 and detect again",
    "media.no_keyframe_for_clips": "{path} has no frame from which a clip can begin: repair the file",
    "media.picture_not_encoded": "a picture cannot be encoded as {suffix}",
    # sources
    "media.joined_mp4": "{path} holds {count} MP4 files, one after the other, of which only the first one is read: join them with a video"
    " program instead",
}

"""The texts of what ``engine/media`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "media.part_behind_end": "{path} has {length}, and {option} lies behind its end: begin earlier",
    "media.pictures": ("{count} picture", "{count:,} pictures"),
    "media.frames": ("{count} frame", "{count:,} frames"),
    "media.seconds": ("{count} frame in {seconds:.1f} s", "{count:,} frames in {seconds:.1f} s"),
    # clips and annotated videos
    "media.not_encoded": "the video cannot be encoded ({detail})",
    "media.not_copied": "{path} cannot be copied ({detail}); write exact clips",
    "media.avi_not_copied": "{path}: AVI and ASF do not say when their frames are shown, so they cannot be copied; write exact clips",
    "media.codec_not_held": "{path}: {container} cannot hold its codec {codec} ({detail}); write exact clips",
    "media.no_frame_in_clip": "{path} has no frame from {start:.3f} s to {end:.3f} s that can be decoded",
    "media.frame_not_converted": "{path}: the frame at {seconds:.3f} s cannot be converted ({detail})",
    "media.frame_not_found": "{path}: the frame at {seconds:.3f} s was not found again: detect again",
    "media.no_times_for_clips": "{path}: a raw stream has no times, so its clips cannot be found: convert it to MP4 and detect again",
    "media.no_keyframe_for_clips": "{path} has no frame from which a clip can begin: repair the file",
    "media.picture_not_encoded": "a picture cannot be encoded as {suffix}",
    # frames
    "media.not_decoded": (
        "{path}: {count} frame at {seconds:.3f} s could not be decoded ({cause}); copy the file again or repair it",
        "{path}: {count} frames at {seconds:.3f} s could not be decoded ({cause}); copy the file again or repair it",
    ),
    "media.incomplete_data": "its data is incomplete or damaged",
    # what decoded the frames of a source
    "media.decoded_by_nvdec": "decoded by the GPU",
    "media.decoded_by_cpu": "decoded by the CPU",
    "media.decoded_by_both": "decoded by the GPU, {cpu} of {frames} frames by the CPU",
    "media.decoded_because": "{use}: {reason}",
    "media.not_by_nvdec": "NVDEC cannot decode it ({problem})",
    # why NVDEC is not used
    "media.no_nvdec": (
        "NVDEC needs PyNvVideoCodec and an NVIDIA driver with its video libraries ({detail}): install 'framefleet[cuda]', in a container"
        " allow the driver's 'video' capability, or use {option}"
    ),
    "media.nvdec_messages_unread": "NVDEC's error messages cannot be read on this system ({detail}): use {option}",
    "media.nvdec_refuses": "NVDEC cannot decode {path} ({problem}): use {option}",
    "media.nvdec_not_asked": "the query of NVDEC's capabilities failed (CUDA error {status})",
    "media.nvdec_codec": "its codec is {codec}; NVDEC is used for {codecs}",
    "media.nvdec_pixel_format": "its pixel format is {format}; NVDEC is used for {formats}",
    "media.nvdec_depth": "this GPU's NVDEC cannot decode {codec} of {depth} bits",
    "media.nvdec_size": (
        "its frames are {width}×{height}; this GPU's NVDEC decodes {codec} from {min_width}×{min_height} to {max_width}×{max_height}"
    ),
    "media.nvdec_memory": "there is no memory for {frames} of its frames of {size} MiB",
    "media.nvdec_other_size": "NVDEC's frames are {width}×{height}, FFmpeg's {right_width}×{right_height}",
    "media.nvdec_other_pixels": "NVDEC's first frame differs from FFmpeg's",
    "media.nvdec_without_first_frame": "NVDEC does not return its first frame",
    "media.pictures_by_cpu": "pictures are decoded by the CPU",
    "media.no_nvjpeg": "JPEGs need nvJPEG ({detail}): install 'framefleet[cuda]'",
    "media.no_jpeg_engines": "this GPU cannot decode JPEGs (status {status} of nvJPEG)",
    "media.jpegs_differ": "the GPU's JPEGs differ from the CPU's by {difference} of 255",
    "media.interlaced": "the video is interlaced, which NVDEC shows deinterlaced",
    "media.maybe_interlaced": "the video may be interlaced, which NVDEC shows deinterlaced",
    "media.hdr": "it is HDR video ({transfer}), which the CPU converts to standard dynamic range",
    "media.container_without_times": "its container does not say when a frame is shown",
    "media.no_keyframe": "it does not begin with a keyframe",
    "media.no_parameter_set": "it has no sequence parameter set",
    "media.no_packets": "it has no packets",
    "media.format_changes": "the stream changes its format",
    "media.format_may_change": "the stream may change its format",
    "media.damaged_packet": "a packet is damaged",
    "media.packet_without_time": "a packet has no presentation time",
    "media.frame_out_of_order": "a frame is missing or out of order",
    "media.frames_missing": "frames are missing",
    "media.uncertain_frames": "its packets do not show how many frames it has",
    "media.uncertain_end": "its last packet may be incomplete",
    "media.decoder_not_opened": "its decoder cannot be opened: {detail}",
    "media.decoder_closed": "the decoder is closed",
    "media.frame_exceeds_memory": "a frame of {size} MiB does not fit into the {limit} MiB for decoded frames",
    "media.frame_memory_freed": "the memory for decoded frames has been given back: the engine was closed",
    # the preview of the window
    "media.decoding_picture": "decoding a picture of {path}",
    "media.looking_up": "looking up detections",
    "media.preview_process": "the preview process",
    # sources
    "media.file_address": "file:///{rest} is an address: give the path alone, /{rest}",
    "media.address": "{scheme}://{rest} is an address, and only files and folders are read: download the file first",
    "media.stream_address": (
        "{scheme}://{rest} is the address of a camera or stream, and only files and folders are read: record it to a file first"
    ),
    "media.other_stream": (
        "{scheme}://{rest} is a stream of a kind that is not read: give an address with rtsp, rtsps, http or https,"
        " or a camera as camera:0, or record it to a file first"
    ),
    "media.missing_scheme": "{path} does not exist; if a camera or stream is meant, write its whole address, such as rtsp://{path}",
    "media.missing_camera": "{path} does not exist; if a camera is meant, write its number as camera:0",
    "media.path_not_read": "{path} cannot be read: {detail}; check the name and the folder's permissions",
    "media.folder_not_read": "the folder {folder} cannot be read: {detail}",
    "media.no_source_in_folder": "no video and no picture in the folder {path}: names must end in .mp4, .mkv, .jpg or another of {known}"
    " suffixes; name files with other suffixes one by one",
    "media.part_of_a_session": "{path} is a part of a session database: give the .sqlite file",
    "media.empty_file": "{path} is empty: nothing was written to it, or a download did not finish",
    "media.pictures_without_times": "{path}: pictures have no times: give {begin}, {end} and {every} as numbers of pictures",
    # videos
    "media.not_a_file": "{path} is not a regular file: give a video, a picture or a folder of them",
    "media.file_not_read": "{path} cannot be read: {detail}; check the file's permissions",
    "media.playlist": "{path} is a playlist or a text, not a video: give the videos themselves",
    "media.no_video": "{path} is not a video that can be read ({detail}): it may be damaged, unfinished or of another kind",
    "media.no_video_track": "{path} has no video track: sound alone cannot be searched for objects",
    "media.encrypted": "{path} is encrypted: copy it without copy protection to use it",
    "media.tiled_picture": "{path} is a picture in tiles, as telephones store them (HEIC): convert it to JPEG to use it",
    "media.no_decoder": "{path}: there is no decoder for its video track; convert it to H.264",
    "media.video_too_large": "{path} claims pictures of {width}×{height}: at most {limit}×{limit} can be used",
    "media.frame_too_large": "a frame of {width}×{height}: at most {limit}×{limit} can be used",
    "media.video_not_decoded": "{path} is not a video that can be decoded ({cause}): it is damaged, unfinished or of another kind",
    "media.no_frame_decoded": "no frame in it can be decoded",
    # pictures
    "media.not_a_picture_file": "{path} is not a regular file: give a picture, or a folder of pictures",
    "media.picture_file_not_read": "{path} cannot be read: {detail}; check the name and the file's permissions",
    "media.animation": "{path} is an animation, of which only the first picture could be read: convert it to a video",
    "media.several_pages": "{path} has {count} pages, of which only the first could be read: save them as pictures in a folder",
    "media.picture_not_used": "{path} cannot be used ({detail}): it is damaged or too large",
    "media.no_picture": "{path} is not a picture that can be read: it is damaged, unfinished or of another kind",
    "media.picture_too_large": "{path} has {width}×{height} pixels: at most {limit}×{limit} can be used",
    "media.no_picture_in_folder": "no picture in the folder {path}: give a folder that contains pictures or a video file",
    # previews
    "media.nothing_decoded": "{path} has no frame that can be decoded; copy the file again or repair it",
    # joined files
    "media.several_tracks": "{path} has {count} video tracks: objects are searched in the one that players show; save the others as their"
    " own files",
    "media.begins_within_group": "{path} begins between two keyframes: its first frames ({count}) cannot be decoded without earlier"
    " ones, and are left out",
    "media.joined_files": "{path} holds {count} {format} files, one after the other, of which only the first one is read: join them with a"
    " video program instead",
}

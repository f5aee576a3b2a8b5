"""The texts of what ``engine/store`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    # child processes, and what may hang in them: the {name} and the {what} of notices of processes
    "store.writes_pictures": "the process that writes pictures",
    "store.writes_videos": "the process that writes annotated videos",
    "store.writes_clips": "the process that writes clips",
    "store.tracks_objects": "the process that tracks objects",
    "store.process_ended": "{process} ended: {reason}",
    "store.writing_picture": "writing a picture of {path}",
    "store.writing_frame": "writing a frame of {path}",
    "store.writing_clip": "writing a clip of {path}",
    # files
    # exports
    "store.no_such_format": "there is no format '{name}': choose from {formats}",
    "store.no_free_name": "{name} finds no free name in {folder}: choose another folder",
    "store.is_a_folder": "it is a folder",
    "store.no_regular_file": "it is not a regular file",
    "store.is_an_input": "it is a source, a file of the model or the session itself",
    "store.is_a_picture_of_a_source": "it is a picture of a source",
    "store.not_what_to_draw": "'{text}' is not a list of what to draw: choose from {parts}",
    "store.not_a_distance": "'{text}' is not a distance between frames: write a number of frames, such as 10, or a time, such as 1s",
    "store.not_a_length": "'{text}' is not a length: write a number of frames, such as 10, or a time, such as 1s",
    "store.not_an_interval": "'{text}' is not a time: write 30s, 15m or 1h",
    "store.not_pictures": "'{text}' is not a format of pictures: write {formats} or none",
    "store.not_a_range": ("'{text}' is not a range of confidences: write two numbers from 0 to 1, the lower one first, such as 0.3,0.6"),
    "store.maps_no_labels": "'{text}' maps no labels: write label=category with commas between, such as dog=animal,car=vehicle",
    "store.other_number_of_labels": "{option} is for models with COCO's {number} labels, and this one has {found}: leave it out",
    "store.other_labels": "{option} is for models with COCO's labels, but label {number} is '{label}', not '{name}': leave it out",
    "store.no_pyarrow": "--format parquet needs pyarrow: install framefleet[parquet], or pyarrow",
    "store.too_many_rows": (
        "{path} has {rows:,} rows, and spreadsheet programs show the first {limit:,} only: export fewer classes or a higher confidence, or"
        " choose the format parquet"
    ),
    "store.left_out": (
        "megadetector: {count} detection of a class without a category is left out ({labels}); {option} chooses the category of each class",
        "megadetector: {count:,} detections of classes without a category are left out ({labels}); {option} chooses the category of each"
        " class",
    ),
    "store.not_counted": "{problem}; it is not counted",
    "store.no_zones": "no lines and zones to count at: give {option}",
    "store.sound_left_out": "the sound of {path} is left out, because the file that is written cannot hold its codec, {codec}",
    "store.no_zones_without_tracks": "{path} has no lines and zones, because they count tracks, and there are none",
    "store.no_frame_to_draw_on": "no frame of {path} can be decoded: there is nothing to draw on",
    "store.annotated_video_changed": (
        "{path} has changed since the detection, and the boxes are of the earlier video: detect again, or restore the file"
    ),
    "store.part_kept": "{crash}; what it had written is in {path}",
    "store.pictures_without_source": "{path} is not there or cannot be read: put it back, or export without pictures",
    "store.pictures_of_changed_source": "{path} has changed since its detections were made: detect again, or export without pictures",
    "store.picture_not_found": "{path}: the frame at {seconds:.3f} s was not found again: detect again, or leave pictures out",
    "store.not_recorded": "{name} was not recorded then, or its files are gone: clips of a stream need a recording (--record)",
    "store.clips_without_video": (
        "{path} does not exist: clips are taken from the video itself; put it back, or change the folder's name back"
    ),
    "store.clips_of_changed_video": (
        "{path} has changed since the detection, and the times are of the earlier video: detect again, or restore it"
    ),
    "store.no_clip_written": "{crash}: no clip of {path} was written; try again with other times or classes",
    # sessions
    "store.cannot_read": "cannot read {path}: {value}",
    "store.cannot_write": "cannot write {path}: {value}",
    "store.cannot_create": "cannot create {path}: {value}",
    "store.cannot_make": "cannot make {path}: {value}",
    "store.disk_full": "the disk is full: free some space or choose another folder",
    "store.read_only": "it is read-only: choose another folder, or change the permissions",
    "store.not_writable": "it cannot be opened: check that the folder exists and may be written, or choose another folder",
    "store.permission_denied": "permission denied: choose another folder, or change the permissions",
    "store.other_file": "it is not a session database: choose another name, or move the file away",
    "store.damaged": "the file is damaged: move it away or delete it, and run the detection again",
    "store.in_use": "another run or window is using it: choose another folder, or close that one",
    "store.disk_failed": "the disk failed or is full: check the space left and the disk, or choose another folder",
    "store.not_there": "it is not there, or cannot be opened: check the name and the permissions",
    "store.not_a_session": "it is not a session database: give the .sqlite file that a run has written",
    "store.system_error": "{reason}: choose another folder, or change the permissions",
    "store.is_a_file": "{file} is a file: choose another folder",
    "store.no_session": "cannot open {path}: it is not a session database: choose another name, or move the file away",
    "store.newer_format": "cannot open {path}: a newer Framefleet wrote it (format {format}, this one reads {known}): update Framefleet",
    "store.older_format": (
        "cannot open {path}: a test version of Framefleet wrote it (format {format}, this one reads {known}): run the detection again"
    ),
    "store.foreign_object": "cannot open {path}: it holds the {kind} {name}, which no session has: another program made or changed it",
    "store.missing_object": "cannot open {path}: the {kind} {name} of a session is missing or differs: another program made or changed it",
    "store.wrong_value": (
        "cannot read {path}: {where} holds {value}, which no run writes: the file is damaged, or another program made or changed it"
    ),
    "store.checksum_differs": (
        "cannot open {path}: a checksum does not match in {what}. The file is damaged: move it away or delete it, and run the detection"
        " again"
    ),
    "store.part_whole_file": "the part that describes the whole file",
    "store.part_list_of_sources": "the list of sources",
    "store.part_facts": "the facts about the run, or an index",
    "store.part_results_of": "the results of {sources}",
    "store.part_results_of_more": ("the results of {sources} and {count} more source", "the results of {sources} and {count} more sources"),
    "store.frames_of": "{name} ({ranges})",
    "store.frames_from_to": "frames {first} to {last}",
    "store.replaced": "cannot read {path}: another run has replaced it in the meantime: open it again",
    "store.pictures_have_no_times": "{path}: pictures have no times; give numbers of pictures, from 0",
    "store.locked": "cannot write {path}: another run uses it, {holder}: wait until it has ended, or choose another folder",
    "store.too_many_intervals": (
        "by its times, {name} lasts {days:,.0f} days: more than {most:,} intervals. Choose a longer {option}; or the source's clock jumped"
    ),
    "store.parts_not_moved": "the results of the past interval stay in the session for now: {why}",
    "store.moves_parts": "the process that moves past results into a session file of their own",
    "store.kept": "the earlier results are kept in {kept}",
    "store.detected_again": "all is detected again: {reasons}; the earlier results are kept in {kept}",
    "store.nothing_stored": "nothing was stored",
    "store.labels_changed": "the labels have changed",
    "store.model_changed": "the model has changed",
    "store.setting_differs": "{name} is {now}, it was {was}",
    "store.not_given": "not given",
    "store.corrections_removed": (
        "{name}: {count} correction is removed, because the frames are detected again",
        "{name}: {count:,} corrections are removed, because the frames are detected again",
    ),
    "store.removed_and_lost": "{path} was removed or moved while the run wrote it, and its results are lost: {cause}",
    "store.removed_and_saved": "{path} was removed or moved while the run wrote it. The run ends; its results so far are in {place}",
    "store.nothing_detected": "nothing was detected",
    "store.no_strong_detection": (
        "{count} detection with a confidence of {highest:.2f}, and a track begins at {needed:.2f}: use a model that is surer of these"
        " objects",
        "{count:,} detections with confidences up to {highest:.2f}, and a track begins at {needed:.2f}: use a model that is surer of these"
        " objects",
    ),
    "store.seen_too_rarely": (
        "{count} detection with a confidence of {highest:.2f}, but no object was seen in several frames in a row: analyse more frames a"
        " second, or use a surer model",
        "{count:,} detections with confidences up to {highest:.2f}, but no object was seen in several frames in a row: analyse more frames"
        " a second, or use a surer model",
    ),
    "store.tracks_were_corrected": "tracks of {path} were joined or split by hand: {option} forgets that and tracks again",
    "store.cancelled": "cancelled",
    "store.zones_scaled": "{name}: lines and zones drawn for {drawn} pixels are scaled to {there}",
    "store.no_tracks": "{where} has no tracks, and lines and zones count tracks: 'framefleet track {folder}' adds them",
    "store.merge_into_itself": "{target} is one of the sessions to join: choose another folder",
    "store.merge_differs": "{other} cannot be joined to {first}: they differ in {differing}",
    "store.merge_same_path": (
        "{path} had different content in the runs of {sessions}: the results of each are kept, as sources of the same name"
    ),
    "store.precisions_differ": "their precisions differ ({precisions}), so boxes differ slightly: give each run the same {option}",
    "store.no_such_class": (
        "there is no class {class_id}: the session has {count} class",
        "there is no class {class_id}: the session has {count} classes",
    ),
    "store.no_such_detection": "there is no {what}",
    "store.no_frame_from": "{source} has no frame from {moment} on",
    "store.join_needs_two": "give two or more different tracks to join",
    "store.join_in_one_frame": "{tracks} are both in frame {frame} of {source}, so they are different objects",
    "store.split_outside": "{track} is in frames {first} to {last}: give a frame behind the first one, up to the last one",
    "store.no_results_of_frame": "frame {frame} of {source} has no results: choose a frame in which the model looked for objects",
    "store.box_too_small": "a box must have at least one pixel inside the picture of {width} × {height} pixels",
    "store.edit_confirmed": "{what} confirmed",
    "store.edit_relabelled": "{what} labelled {label}",
    "store.edit_deleted": "{what} deleted",
    "store.edit_moved": "{what}: box moved",
    "store.edit_added": "{label} added in {where} of {source}",
    "store.edit_joined": "{tracks} of {source} joined",
    "store.edit_split": "{track} split at frame {frame}, the new track is {new}",
    "store.source_number": "source {number}",
    "store.track_of": "track {track} of {source}",
    "store.detection_of": "detection {place} in frame {frame} of {source}",
    "store.detection_in": "detection {place} ({label}, {confidence}) in {where} of {source}",
    "store.frame": "frame {frame}",
}

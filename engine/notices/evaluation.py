"""The texts of what ``engine/evaluation`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    # reading a truth
    "evaluation.no_truth": "{path} is not a truth file: give a COCO file (.json), a CVAT file (.xml), or a folder with labels of YOLO",
    "evaluation.session_as_truth": "{path} is a session, not a truth: correct it, and give a file of"
    " 'framefleet results {path} --format coco' instead",
    "evaluation.no_pictures": "{path} names no pictures, so nothing can be compared",
    "evaluation.large": "{path} has {size} GB, and a truth file may have {most} GB: divide it into smaller files",
    "evaluation.unpacked": "{path} has more than {most} MiB when it is unpacked: unpack it, or divide it",
    "evaluation.memory": "{path} has more than {objects:,} objects in {pictures:,} pictures. They need {needed} GB of memory, and {free} GB"
    " are free: divide the file",
    "evaluation.out_of_memory": "{path} needs more memory than this process may take: divide the file",
    "evaluation.no_coco": "{path} is no COCO truth: it needs images, annotations and categories ({reason})",
    "evaluation.no_cvat": "{path} is no CVAT truth: {reason} is missing in an element",
    "evaluation.not_read": "{path} cannot be read as {form}: {reason}",
    "evaluation.frames": "{path} describes a task of {frames:,} frames, which are too many: divide it",
    "evaluation.frame": "frame {number}",
    "evaluation.box": "{path}: an object in {picture} has the box {box}: numbers must be finite, and width and height must not be below 0",
    "evaluation.cvat_shapes": "{path} has shapes that are not the outline of an object in the picture: {shapes}. Draw boxes, polygons,"
    " ellipses, masks or skeletons instead, or delete them",
    "evaluation.cvat_shape": "{number:,} of the kind '{kind}'",
    "evaluation.yolo_line": "{path}, line {line}: '{text}' is not a label: write class, centre x, centre y, width, height as shares of the"
    " picture",
    "evaluation.yolo_class": "{path}: a label has the class {class_id}, but there are {names} names of classes",
    "evaluation.no_labels": "{path} is not a text file of labels",
    "evaluation.no_utf8": "{path} is not UTF-8 text: save it as UTF-8",
    "evaluation.yaml": "{path} is not valid YAML: {reason}",
    "evaluation.yaml_names": "{path}: '{key}' is neither a list of labels nor labels by their numbers, such as 0: person",
    "evaluation.demo_truth": "the truth {path} cannot be read ({reason}): install Framefleet again",
    "evaluation.other_video": "{path} has no results of {name}: choose a session of the same video",
    # remarks on a truth
    "evaluation.flat_boxes": (
        "{count} object has no width or no height. It counts as missed, as in pycocotools.",
        "{count:,} objects have no width or no height. They count as missed, as in pycocotools.",
    ),
    "evaluation.without_box": (
        "{count} annotation has neither a box nor a polygon, and is left out.",
        "{count:,} annotations have neither a box nor a polygon, and are left out.",
    ),
    "evaluation.frame_numbers": (
        "{count} picture is a frame of the video by the number in its name, such as frame_000012: frames count from 0, as in CVAT.",
        "{count:,} pictures are frames of the video by the numbers in their names, such as frame_000012: frames count from 0, as in CVAT.",
    ),
    "evaluation.outlines": (
        "{count} rotated box, polygon, ellipse, mask or skeleton counts as the upright box around it.",
        "{count:,} rotated boxes, polygons, ellipses, masks and skeletons count as the upright boxes around them.",
    ),
    # a truth and a session
    "evaluation.no_label": "{path} has no label '{label}': its labels are {labels}",
    "evaluation.not_looked_for": "{path} does not have these classes: only {labels} were looked for",
    "evaluation.no_common_class": "no class of {path} was looked for in all sessions: its labels are {labels}",
    "evaluation.no_common_picture": "the sessions have no picture of {path} in common",
    "evaluation.frame_twice": "{path} describes a frame of {session} more than once: remove one description",
    "evaluation.size": "{path} says that {picture} has {true} pixels, but in {session} it has {stored}: use the truth of the same pictures",
    "evaluation.same_class": "{path}: '{one}' and '{other}' are the same class of {session}",
    "evaluation.unknown_label": "{path} has objects with the labels {labels}, which {session} does not know; its labels are {known}: give"
    " --map '{first}=LABEL', or the truth for this model",
    "evaluation.missing_pictures": "{session} does not have {missing:,} of the {pictures:,} pictures of {path} ({some}): detect in all of"
    " them, or give --common to compare the others only",
    "evaluation.none_of_the_pictures": "{session} has none of the {pictures:,} pictures of {path} ({some}); it is about {files}. Pictures"
    " are found by the names of their files. Frames of a video are found by the names that 'framefleet results --format coco' gives them,"
    " by names like clip.mp4#12 or, if the session has one video, by their number",
    "evaluation.ambiguous_picture": "Several sources have a picture '{picture}': write the folder in front of the name, as in '{example}'",
    "evaluation.ambiguous_frame": "Several sources have a picture '{picture}': write the folder in front of the name, as in"
    " 'folder/clip.mp4#12' for a frame of a video",
    "evaluation.two_sentences": "{first}. {second}",
    "evaluation.names": "{names}",
    "evaluation.some_names": "{names} and {more:,} more",
    # progress
    "evaluation.reading": "reading {name}",
    "evaluation.matching": "matching {name}",
    "evaluation.intervals": "estimating how certain the differences are",
}

"""The texts of what ``engine/zones`` tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    # a set of lines and zones
    "zones.line": "line",
    "zones.zone": "zone",
    "zones.no_size": "the pictures are {width}×{height} pixels: both numbers must be above 0",
    "zones.margin": "the margin is {margin}: it is a share of a box's shorter side, from 0 to 1",
    "zones.too_many": "{number} lines and zones: at most {highest} are possible",
    "zones.no_name": "a {shape} has no name, or one that cannot be printed: name it",
    "zones.name_twice": "two lines or zones have the name '{name}': rename one",
    "zones.wrong_points": "{shape} '{name}' {problem}",
    "zones.other_shape": (
        "the lines and zones were drawn for pictures of {drawn} pixels, and {where} has {there}, which is another shape: draw them for this"
        " camera"
    ),
    "zones.unknown_class": "'{name}' counts a class that the model does not have: {error}",
    # what is wrong with the points of a line or zone, the end of a sentence
    "zones.not_finite": "has a point that is not a number",
    "zones.outside": "has the point {x:g}, {y:g} outside the picture of {width}×{height} pixels: move it inside",
    "zones.no_length": "begins where it ends: a line needs two different points",
    "zones.few_points": "has {number} points: a zone needs at least 3",
    "zones.many_points": "has {number} points: at most {highest} are possible",
    "zones.crosses_itself": "crosses or touches itself: the edge behind point {one} meets the edge behind point {other}; move a point",
    "zones.no_area": "has no area: move a point",
    # a line without a crossing
    "zones.none_crossed": (
        "{count} track, and it did not cross '{line}': an object crosses with {point} of its box, between the ends of the line",
        "{count} tracks, and none crossed '{line}': an object crosses with {point} of its box, between the ends of the line",
    ),
    "zones.bottom": "the middle of the lower edge",
    "zones.centre": "the centre",
    "zones.top": "the middle of the upper edge",
    # a zones file
    "zones.in_file": "{path}: {problem}",
    "zones.the_file": "the file",
    "zones.too_large": "{path} has more than {megabytes} MiB: it is not a zones file",
    "zones.not_json": "it is not JSON: {problem} in line {line}, column {column}",
    "zones.unreadable_json": "it is not JSON that can be read: {error}",
    "zones.newer_version": "it has the version {version}, and this Framefleet reads {known}: update Framefleet",
    "zones.other_version": "it has the version {version}, and this Framefleet reads {known}",
    "zones.no_version": 'the file has no key \'version\': a zones file begins with "version": {known}, "width" and "height" of the video',
    "zones.shares": (
        "{shape} '{name}' has all its points between 0 and 1: write pixels, not shares. Multiply x by the width and y by the height of the"
        " picture"
    ),
    "zones.constant": "it has the value {name}, which is not a number of pixels",
    "zones.key_twice": "an object has the key '{name}' twice",
    "zones.no_object": "{what} is {value}, but must be an object with the keys {keys}",
    "zones.unknown_key": "{what} has the unknown key '{name}': its keys are {keys}",
    "zones.no_key": "{what} has no key '{name}'",
    "zones.name_is_text": "{what} has the name {value}: a name is a text",
    "zones.long_name": "{what} has a name of {number} letters: at most {highest} are possible",
    "zones.class_is_text": '{what} has {value} among its classes: they are labels, such as "car"',
    "zones.reference": "the reference is {value}: choose from {choices}",
    "zones.point": "{what} has {number} numbers: a point is [x, y]",
    "zones.no_number": "{what} is {value}: write a number",
    "zones.infinite": "{what} is not a finite number",
    "zones.no_whole_number": "the {what} of the pictures is {value}: write a whole number of pixels",
    "zones.no_list": "{what} is {value}, but must be a list",
}

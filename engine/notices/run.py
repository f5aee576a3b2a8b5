"""The texts of what ``engine/run``, the detection run, tells a person."""

from framefleet.engine.notices import Text

TEXTS: dict[str, Text] = {
    "run.sources_kept": (
        "{count} source finished by an earlier run: the results stay",
        "{count} sources finished by an earlier run: the results stay",
    ),
    "run.more_pictures": "{path} has more pictures than in an earlier run: it goes on at picture {picture}",
    "run.source_has_changed": "{path} has changed since an earlier run: it is detected again",
    "run.crashed_frames": (
        "{path}: {count} frame on which a worker crashed is detected again, with those behind it",
        "{path}: {count} frames on which a worker crashed are detected again, with those behind the first one",
    ),
    "run.goes_on": "{path} goes on at frame {frame}, where an earlier run stopped",
    "run.changed_while_read": (
        "{path} changed while it was read, so its results may mix two contents: run again when nothing writes to it"
    ),
    "run.earlier_results_back": "no device could be used: {path} holds the earlier results again",
    "run.tracks_stay": "{path}: its tracks were joined or split by hand and stay: 'framefleet track {option}' tracks again",
}

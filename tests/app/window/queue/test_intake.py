from pathlib import Path

from framefleet.app.window.models.files import ModelParts
from framefleet.app.window.queue.file_drops import drop_title
from framefleet.app.window.queue.intake import Contents, Intake, expand, listed, sort_paths


def touch(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.touch()
    return paths


def test_model_files_are_told_from_sources_by_their_suffix() -> None:
    intake = sort_paths(map(Path, ("a.mp4", "m.CFG", "folder", "m.weights", "x.names", "b.jpg")))
    assert (intake.cfg, intake.weights, intake.labels) == (Path("m.CFG"), Path("m.weights"), Path("x.names"))
    assert intake.sources == (Path("a.mp4"), Path("folder"), Path("b.jpg"))
    assert not sort_paths([Path("a.mp4")]).has_model


def test_dropping_a_cfg_finds_its_weights(tmp_path: Path) -> None:
    cfg, weights = touch(tmp_path, "m.cfg", "m.weights")
    files = ModelParts().updated(sort_paths([cfg])).files
    assert files is not None
    assert (files.cfg, files.weights, files.labels) == (cfg, weights, None)


def test_dropping_weights_finds_their_cfg_or_takes_those_there_are(tmp_path: Path) -> None:
    cfg, weights, other, best = touch(tmp_path, "m.cfg", "m.weights", "other.weights", "m_best.weights")
    assert ModelParts().updated(sort_paths([best])).cfg == cfg
    parts = ModelParts(cfg, weights).updated(sort_paths([other]))
    assert (parts.cfg, parts.weights) == (cfg, other)


def test_a_new_cfg_does_not_keep_the_weights_of_another_model(tmp_path: Path) -> None:
    cfg, weights, lonely = touch(tmp_path, "m.cfg", "m.weights", "lonely.cfg")
    parts = ModelParts(cfg, weights).updated(sort_paths([lonely]))
    assert parts.files is None
    assert "no weights beside lonely.cfg" in parts.missing
    assert parts.updated(sort_paths([weights])).cfg == cfg  # its own cfg lies beside it


def test_parts_can_come_one_after_the_other(tmp_path: Path) -> None:
    cfg, weights, labels = touch(tmp_path, "m.cfg", "trained.weights", "x.names")
    parts = ModelParts().updated(sort_paths([labels])).updated(sort_paths([weights]))
    assert "belongs to" in parts.missing
    parts = parts.updated(sort_paths([cfg, weights, labels]))
    assert parts == ModelParts(cfg, weights, labels)
    assert parts.missing == ""


def test_the_overlay_says_what_dropping_will_do() -> None:
    def title(*names: str) -> str:
        return drop_title(sort_paths(map(Path, names)))

    assert title("a.mp4") == "Drop to add a.mp4"
    assert title("a.mp4", "b.mp4") == "Drop to add 2 items"
    assert title("m.cfg", "m.weights") == "Drop to use this model"
    assert title("m.cfg", "a.mp4") == "Drop to set the model and add 1 item"


def test_every_path_that_holds_nothing_is_told_or_counted(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").touch()
    found = expand([tmp_path / "a.mp4", *(tmp_path / f"gone {number}.mp4" for number in range(5))])
    problems = found.problems
    assert found.sources == (tmp_path / "a.mp4",)
    assert len(problems) == 5
    lines = listed(problems)
    assert len(lines) == 4
    assert "gone 0.mp4 does not exist" in lines[0]
    assert lines[3] == "… and 2 more"
    assert listed(problems[:3]) == [*problems[:3]]


def test_a_file_that_is_dropped_with_its_folder_is_one_source(tmp_path: Path) -> None:
    one, other = touch(tmp_path, "a.mp4", "b.mp4")
    assert expand([other, tmp_path]).sources == (other, one)


def test_a_folder_that_holds_a_model_gives_it(tmp_path: Path) -> None:
    cfg, weights = touch(tmp_path, "m.cfg", "other_name.weights")
    assert expand([tmp_path]) == Contents((), Intake(cfg, weights, None, ()), ())
    (video,) = touch(tmp_path, "a.mp4")
    assert expand([tmp_path]) == Contents((video,), Intake(cfg, weights, None, ()), ())


def test_of_several_cfgs_in_a_folder_the_one_with_weights_is_the_model(tmp_path: Path) -> None:
    cfg, weights, _ = touch(tmp_path, "m.cfg", "m_best.weights", "n.cfg")
    assert expand([tmp_path]).model == Intake(cfg, weights, None, ())
    touch(tmp_path, "n.weights")
    found = expand([tmp_path])
    assert found.model is None
    assert "holds several models (m.cfg, n.cfg): drop the .cfg of the one you want" in found.problems[0]


def test_a_folder_with_half_a_model_is_no_model(tmp_path: Path) -> None:
    touch(tmp_path, "m.cfg")
    found = expand([tmp_path])
    assert found.model is None
    assert "no video and no picture" in found.problems[0]


def test_stored_results_are_told_from_sources() -> None:
    intake = sort_paths(map(Path, ("a.mp4", "20261121.SQLITE", "session.sqlite")))
    assert intake.sessions == (Path("20261121.SQLITE"), Path("session.sqlite"))
    assert intake.sources == (Path("a.mp4"),)
    assert drop_title(sort_paths([Path("session.sqlite")])) == "Drop to open these results"

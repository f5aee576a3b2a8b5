from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.model.describe import MAX_ACTIVATIONS, MAX_LAYERS, MAX_PARAMETERS, describe
from framefleet.engine.model.description import ConvolutionSpec, Description
from framefleet.engine.model.network import Activation, MaxPool, Region, Reorg, Route, Shortcut, Upsample, Yolo
from framefleet.engine.notices import ModelError, Notice, UsageError
from tests.support.models import OLDER_CFG, TINY_CFG
from tests.support.networks.architectures import make_cfg

NET = "[net]\nwidth=64\nheight=32\nchannels=3\n"
REGION = "[convolutional]\nfilters=7\nactivation=linear\n[region]\nanchors=1.5,2\nclasses=2\nsoftmax=1\n"
HEAD = "[convolutional]\nfilters=7\nactivation=linear\n[yolo]\nanchors=10,20\nclasses=2\n"


@pytest.fixture
def cfg(tmp_path: Path) -> Callable[[str], Description]:
    def make(text: str) -> Description:
        path = tmp_path / "made.cfg"
        path.write_text(text)
        return describe(path)

    return make


def test_tiny() -> None:
    tiny = describe(TINY_CFG)
    assert (tiny.width, tiny.height, tiny.channels, tiny.letter_box, tiny.classes) == (96, 96, 3, False, 3)
    assert [layer.shape for layer in tiny.layers] == [
        *[(8, 48, 48), (16, 24, 24), (8, 24, 24), (8, 24, 24), (8, 24, 24), (8, 24, 24), (24, 24, 24), (24, 12, 12), (24, 12, 12)],
        *[(16, 6, 6), (16, 6, 6), (16, 6, 6), (16, 6, 6), (48, 6, 6), (16, 6, 6), (16, 6, 6), (24, 6, 6), (24, 6, 6)],
        *[(16, 6, 6), (16, 12, 12), (40, 12, 12), (16, 12, 12), (24, 12, 12), (24, 12, 12)],
    ]
    route, shortcut, spp = tiny.layers[2], tiny.layers[5], tiny.layers[13]
    assert isinstance(route, Route)
    assert (route.inputs, route.groups, route.group) == ((1,), 2, 1)
    assert isinstance(shortcut, Shortcut)
    assert shortcut.inputs == (4, 3)
    assert spp.inputs == (12, 10, 9)
    coarse, fine = tiny.heads
    assert coarse.anchors.tolist() == [[24, 30], [40, 36], [60, 70]]
    assert fine.anchors.tolist() == [[6, 8], [10, 14], [16, 12]]
    assert (coarse.scale_x_y, fine.scale_x_y, coarse.new_coords, coarse.diou_beta) == (1.05, 1.1, False, None)


@pytest.mark.parametrize(
    ("name", "size", "layers", "weights_bytes", "gflops"),
    [
        ("yolov4", (608, 608), 162, 257_717_640, {416: 60.137, 512: 91.095, 608: 128.459}),
        ("yolov4-tiny", (416, 416), 38, 24_251_276, {416: 6.910}),
        ("yolov4-tiny-3l", (608, 608), 45, 25_336_200, {416: 8.305}),
        ("yolov4-csp", (512, 512), 175, 211_944_840, {512: 77.003}),
        ("yolov4-csp-swish", (640, 640), 176, 211_944_840, {640: 120.317}),
        ("yolov4-p5", (896, 896), 244, 283_669_892, {896: 326.809}),
        ("yolov4x-mish", (640, 640), 203, 399_388_168, {640: 221.986}),
        ("yolo-fastest-1.1", (320, 320), 131, 1_384_268, {320: 0.252}),
    ],
)
def test_published_models(data: Path, name: str, size: tuple[int, int], layers: int, weights_bytes: int, gflops: dict[int, float]) -> None:
    path = data / "models" / f"{name}.cfg"
    found = describe(path)
    assert ((found.width, found.height), len(found.layers), found.weights_bytes) == (size, layers, weights_bytes)
    assert found.classes == 80
    assert {side: round(describe(path, (side, side)).flops / 1e9, 3) for side in gflops} == gflops


def test_options_of_published_heads(data: Path) -> None:
    heads = {path.stem: describe(path).heads[0] for path in (data / "models").glob("*.cfg")}
    assert {name for name, head in heads.items() if head.new_coords} == {"yolov4-csp", "yolov4-csp-swish", "yolov4-p5", "yolov4x-mish"}
    assert all(head.diou_beta == 0.6 for head in heads.values())  # diounms with beta_nms=0.6, or greedynms
    assert describe(data / "models" / "yolov4-csp-swish.cfg").letter_box


def test_another_size() -> None:
    wide = describe(TINY_CFG, (160, 64))
    assert (wide.width, wide.height) == (160, 64)
    assert [head.shape for head in wide.heads] == [(24, 4, 10), (24, 8, 20)]
    assert wide.float_count == describe(TINY_CFG).float_count


@pytest.mark.parametrize("size", [(100, 96), (96, 0), (-32, 32), (1 << 20, 32)])
def test_sizes_that_cannot_be(size: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="multiples of 32"):
        describe(TINY_CFG, size)


@pytest.mark.parametrize(
    ("options", "padding", "shape"),
    [
        ("size=3\nstride=1\npad=1", 1, (4, 32, 64)),
        ("size=3\nstride=2\npad=1", 1, (4, 16, 32)),
        ("size=3\nstride=2\npad=0", 0, (4, 15, 31)),
        ("size=3\nstride=2\npadding=2", 2, (4, 17, 33)),
        ("size=3\nstride=2\npad=1\npadding=7", 1, (4, 16, 32)),  # pad wins
        ("size=5\nstride_x=2\nstride_y=2\npad=1", 2, (4, 16, 32)),
        ("size=1\ndilation=3", 0, (4, 32, 64)),  # means nothing for one pixel
    ],
)
def test_convolutions(cfg: Callable[[str], Description], options: str, padding: int, shape: tuple[int, int, int]) -> None:
    layer = cfg(f"{NET}[convolutional]\nfilters=4\nactivation=mish\n{options}\n{HEAD}").layers[0]
    assert isinstance(layer, ConvolutionSpec)
    assert (layer.padding, layer.shape, layer.activation, layer.inputs) == (padding, shape, Activation.MISH, (-1,))


def test_counting_the_numbers_of_a_convolution(cfg: Callable[[str], Description]) -> None:
    text = "[convolutional]\nfilters=12\nsize=3\npad=1\ngroups=3\nactivation=relu\n"
    plain, normalized, cross = (cfg(f"{NET}{text}{option}{HEAD}").convolutions[0] for option in ("", "batch_normalize=1\n", "cbn=1\n"))
    assert (plain.float_count, normalized.float_count, cross.float_count) == (12 * 9 + 12, 12 * 9 + 48, 12 * 9 + 48)


@pytest.mark.parametrize(
    ("options", "size", "stride", "padding", "shape"),
    [
        ("size=2\nstride=2", 2, 2, 1, (3, 16, 32)),
        ("size=2\nstride=1", 2, 1, 1, (3, 32, 64)),
        ("size=13\nstride=1", 13, 1, 12, (3, 32, 64)),
        ("stride=2", 2, 2, 1, (3, 16, 32)),  # the size is the stride's by default
        ("size=3\nstride=2", 3, 2, 2, (3, 16, 32)),
        ("size=3\nstride=2\npadding=0", 3, 2, 0, (3, 15, 31)),
        ("size=3\nstride=2\npadding=1", 3, 2, 1, (3, 16, 32)),
        ("size=3\nstride=2\npadding=4", 3, 2, 4, (3, 17, 33)),
    ],
)
def test_maxpool(
    cfg: Callable[[str], Description], options: str, size: int, stride: int, padding: int, shape: tuple[int, int, int]
) -> None:
    layer = cfg(f"{NET}[maxpool]\n{options}\n{HEAD}").layers[0]
    assert isinstance(layer, MaxPool)
    assert (layer.size, layer.stride, layer.padding, layer.shape) == (size, stride, padding, shape)


def test_older_networks() -> None:
    older = describe(OLDER_CFG)
    shapes = [(8, 48, 32), (8, 24, 16), (12, 24, 16), (12, 24, 16), (4, 24, 16), (4, 24, 16), (16, 12, 8), (16, 12, 8), (12, 24, 16)]
    assert [layer.shape for layer in older.layers] == [*shapes, (48, 12, 8), (48, 12, 8), (64, 12, 8), (24, 12, 8), (24, 12, 8)]
    assert [layer.view for layer in older.layers if isinstance(layer, Reorg)] == [(4, 24, 16), (3, 48, 32)]
    (head,) = older.heads
    assert isinstance(head, Region)
    assert np.allclose(head.anchors, np.array([[0.6, 0.7], [1.9, 2.1], [3.3, 5.5]]) * 8)  # cells of 8 pixels
    assert (head.classes, head.scale_x_y, head.new_coords, head.diou_beta) == (3, 1.0, False, None)


PUBLISHED = {
    "yolov2": (203_934_264, 29.475),
    "yolov3": (248_007_048, 65.879),
    "yolov3-tiny": (35_434_956, 5.571),
    "yolov3-tiny-prn": (19_759_052, 3.467),
}
"""Size of the published weight file, bytes (yolov2's has the short header: 4 bytes fewer), and Darknet's BFLOPS at 416×416."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_of_older_published_models(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.cfg"
    path.write_text(make_cfg(name, 416))
    found = describe(path)
    assert (found.weights_bytes, round(found.flops / 1e9, 3)) == PUBLISHED[name]


def test_the_rest(cfg: Callable[[str], Description]) -> None:
    found = cfg(
        f"{NET}letter_box=1\n[conv]\nfilters=4\n[avg]\n[conv]\nfilters=4\n[scale_channels]\nfrom=0\n[sam]\nfrom=0\n[upsample]\nstride=3\n"
        f"[silence]\n[dropout]\nprobability=.5\n[max]\nstride=3\n[shortcut]\nfrom=3,-5\nactivation=leaky\n[route]\nlayers=0,-7\n{HEAD}"
    )
    names = [type(layer).__name__ for layer in found.layers]
    assert names[:6] == ["ConvolutionSpec", "AveragePool", "ConvolutionSpec", "ScaleChannels", "Sam", "Upsample"]
    assert names[6:11] == ["Identity", "Identity", "MaxPool", "Shortcut", "Route"]
    assert [layer.inputs for layer in found.layers[1:11]] == [(0,), (1,), (2, 0), (3, 0), (4,), (5,), (6,), (7,), (8, 3, 4), (0, 3)]
    assert [layer.shape for layer in found.layers[1:6]] == [(4, 1, 1), (4, 1, 1), (4, 32, 64), (4, 32, 64), (4, 96, 192)]
    assert isinstance(found.layers[5], Upsample)
    assert found.letter_box


def test_a_mask_is_optional(cfg: Callable[[str], Description]) -> None:
    text = "[convolutional]\nfilters=14\n[yolo]\nanchors=1,2, 3,4\nclasses=2\nnum=2\nnms_kind=diounms\nbeta_nms=0.7\n"
    head = cfg(NET + text).heads[0]
    assert isinstance(head, Yolo)
    assert (head.anchors.tolist(), head.anchors.dtype, head.diou_beta) == ([[1, 2], [3, 4]], np.float32, 0.7)


CONVOLUTION = "[convolutional]\nfilters=8\nsize=3\npad=1\nactivation=leaky\n"


COMPLAINTS = [
    (CONVOLUTION, 1, "[convolutional]", "begins with [net]"),
    ("[net]\nwidth=64\n", 1, "[net]", "height= is missing"),
    ("[net]\nwidth=10000000\nheight=1\n", 2, "[net]", "width=10000000 is outside"),
    ("[net]\nwidth=0\nheight=1\n", 2, "[net]", "width=0 is outside"),
    (NET.replace("channels=3", "channels=1"), 4, "[net]", "channels=1 is not supported"),
    (NET, 1, "[net]", "no [yolo] or [region] layer"),
    (NET + CONVOLUTION, 1, "[net]", "no [yolo] or [region] layer"),
    (NET + "[lstm]\n", 5, "[lstm] (layer 0)", "[lstm] is unknown or not supported"),
    (NET + "[Convolutional]\n", 5, "[Convolutional] (layer 0)", "[Convolutional] is unknown"),
    (NET + "[" + "x" * 5000 + "]\n", 5, "[" + "x" * 37 + "…] (layer 0)", "is unknown"),
    (NET + "[convolutional]\nfilters=1000000000\n", 6, "[convolutional] (layer 0)", "filters=1000000000 is outside"),
    (NET + "[convolutional]\nfilters=-1\n", 6, "[convolutional] (layer 0)", "filters=-1 is outside"),
    (NET + "[convolutional]\nsize=1000000\n", 6, "[convolutional] (layer 0)", "size=1000000 is outside"),
    (NET + "[convolutional]\nsize=41\n", 6, "[convolutional] (layer 0)", "size=41 is larger than the input of 64×32"),
    (NET + "[convolutional]\nstride=0\n", 6, "[convolutional] (layer 0)", "stride=0 is outside"),
    (NET + "[convolutional]\nstride_x=2\n", 6, "[convolutional] (layer 0)", "stride_x=2 and stride_y=1 differ"),
    (NET + "[convolutional]\nfilters=4\ngroups=3\n", 7, "[convolutional] (layer 0)", "groups=3 must divide the 3 channels"),
    (
        NET + "[convolutional]\nactivation=elu\n",
        6,
        "[convolutional] (layer 0)",
        "activation=elu is unknown or not supported; supported are",
    ),
    (NET + "[convolutional]\nsize=3\ndilation=2\n", 7, "[convolutional] (layer 0)", "dilation= is not supported"),
    (NET + "[convolutional]\nxnor=1\n", 6, "[convolutional] (layer 0)", "xnor=1 is not supported"),
    (NET + "[convolutional]\nantialiasing=1\n", 6, "[convolutional] (layer 0)", "antialiasing=1 is not supported"),
    (NET + "[convolutional]\nstretch=1\n", 6, "[convolutional] (layer 0)", "stretch=1 is not supported"),
    (NET + CONVOLUTION + "[convolutional]\nshare_index=0\n", 11, "[convolutional] (layer 1)", "share_index=0 is not supported"),
    (NET + "[maxpool]\nmaxpool_depth=1\n", 6, "[maxpool] (layer 0)", "maxpool_depth=1 is not supported"),
    (NET + "[maxpool]\nsize=2\npadding=3\n", 7, "[maxpool] (layer 0)", "padding=3 is outside 0..2"),
    (NET + "[upsample]\nscale=2\n", 6, "[upsample] (layer 0)", "scale=2 is not supported"),
    (NET + "[upsample]\nstride=-2\n", 6, "[upsample] (layer 0)", "stride=-2 is outside"),
    (NET + "[route]\nlayers=-1\n", 6, "[route] (layer 0)", "layers=-1 is not an earlier layer: the earlier layers are none"),
    (
        NET + CONVOLUTION + "[route]\nlayers=1\n",
        11,
        "[route] (layer 1)",
        "layers=1 is not an earlier layer: the earlier layers are 0 to 0, or -1 to -1",
    ),
    (NET + CONVOLUTION + "[route]\n", 10, "[route] (layer 1)", "layers= is missing"),
    (NET + CONVOLUTION + "[route]\nlayers=0\ngroups=3\n", 12, "[route] (layer 1)", "groups=3 does not divide the 8 channels"),
    (NET + CONVOLUTION + "[route]\nlayers=0\ngroups=2\ngroup_id=2\n", 13, "[route] (layer 1)", "group_id=2 is outside 0..1"),
    (NET + CONVOLUTION + "[maxpool]\nstride=2\n[route]\nlayers=0,1\n", 13, "[route] (layer 2)", "width and height must be equal"),
    (NET + CONVOLUTION + "[maxpool]\nstride=2\n[shortcut]\nfrom=0\n", 13, "[shortcut] (layer 2)", "adds layer 0 of 64×32×8 to 32×16×8"),
    (NET + "[reorg]\nstride=2\n", 6, "[reorg] (layer 0)", "stride=2: 4 must divide the 3 channels"),
    (NET + "[reorg3d]\nstride=3\n", 6, "[reorg3d] (layer 0)", "stride=3 must divide the width and height of 64×32×3"),
    (NET + "[reorg3d]\nstride=2\nreverse=1\n", 7, "[reorg3d] (layer 0)", "reverse=1 is not supported"),
    (NET + REGION.replace("softmax=1", "softmax=0"), 11, "[region] (layer 1)", "softmax= must be 1"),
    (NET + REGION.replace("softmax=1\n", ""), 8, "[region] (layer 1)", "softmax= must be 1"),
    (NET + REGION + "coords=5\n", 12, "[region] (layer 1)", "coords= must be 4: other coordinates are not supported"),
    (NET + REGION + "tree=9k.tree\n", 12, "[region] (layer 1)", "tree=9k.tree is not supported"),
    (NET + REGION + "[dropout]\n", 12, "[dropout] (layer 2)", "takes its input from [region] (layer 1)"),
    (NET + REGION.replace("filters=7", "filters=8"), 8, "[region] (layer 1)", "8 channels, but 1 anchors · (5 + 2 classes) = 7"),
    (
        NET + CONVOLUTION + "[shortcut]\nfrom=0\nweights_type=per_feature\n",
        12,
        "[shortcut] (layer 1)",
        "weights_type=per_feature is not supported",
    ),
    (NET + CONVOLUTION + "[sam]\nfrom=0,0\n", 11, "[sam] (layer 1)", "names 2 layers"),
    (NET + CONVOLUTION + "[sam]\nfrom=0\nactivation=mish\n", 12, "[sam] (layer 1)", "activation=mish is unknown or not supported"),
    (NET + CONVOLUTION + "[avgpool]\n[sam]\nfrom=0\n", 12, "[sam] (layer 2)", "the sizes must be equal"),
    (NET + CONVOLUTION + "[scale_channels]\nfrom=0\n", 11, "[scale_channels] (layer 1)", "that must be 1×1×8"),
    (
        NET + CONVOLUTION + HEAD.replace("filters=7", "filters=8"),
        13,
        "[yolo] (layer 2)",
        "8 channels, but 1 anchors · (5 + 2 classes) = 7",
    ),
    (NET + HEAD + "[dropout]\n", 11, "[dropout] (layer 2)", "takes its input from [yolo] (layer 1)"),
    (NET + HEAD.replace("anchors=10,20\n", ""), 8, "[yolo] (layer 1)", "anchors= is missing"),
    (NET + HEAD.replace("10,20", "10"), 9, "[yolo] (layer 1)", "has 1 numbers"),
    (NET + HEAD.replace("10,20", "10,-20"), 9, "[yolo] (layer 1)", "anchors=-20 must be above 0"),
    (NET + HEAD + "mask=1\n", 11, "[yolo] (layer 1)", "mask=1 is outside 0..0"),
    (NET + HEAD + "scale_x_y=0\n", 11, "[yolo] (layer 1)", "scale_x_y=0 must be above 0"),
    (
        NET + HEAD + "[route]\nlayers=0\n[yolo]\nanchors=1,1\nclasses=3\n",
        15,
        "[yolo] (layer 3)",
        "classes=3, but [yolo] (layer 1) has 2",
    ),
]
"""cfg, line, section and complaint."""


def test_complaints_name_the_place(tmp_path: Path, subtests: pytest.Subtests) -> None:
    path = tmp_path / "bad.cfg"
    for text, line, section, complaint in COMPLAINTS:
        with subtests.test(complaint):
            path.write_text(text)
            with pytest.raises(ModelError) as caught:
                describe(path)
            assert str(caught.value).startswith(f"{path}, line {line}, {section}: ")
            assert complaint in str(caught.value)


WIDE = "[convolutional]\nfilters=60000\nsize=3\npad=1\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (NET + WIDE * 2, rf"line 10, \[convolutional\] \(layer 1\): .*more than {MAX_PARAMETERS:,} parameters"),
        (NET + "[convolutional]\nsize=1000\nfilters=60000\npadding=600\n", f"more than {MAX_PARAMETERS:,} parameters"),
        (NET + "[upsample]\nstride=900\n" * 9, rf"\(layer 0\): .*more than {MAX_ACTIVATIONS:,} values"),
        ("[net]\nwidth=16000\nheight=16000\n" + "[dropout]\n" * 99, f"more than {MAX_ACTIVATIONS:,} values"),
        (
            NET.replace("width=64", "width=512") + CONVOLUTION + "[route]\nlayers=" + ",".join(["0"] * 50_000) + "\n",
            f"more than {MAX_ACTIVATIONS:,} values",
        ),
        (NET + "[dropout]\n" * 9_000, f"more than {MAX_LAYERS:,} layers"),
    ],
)
def test_absurd_networks_cost_nothing(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "absurd.cfg"
    path.write_text(text)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=complaint):
            describe(path)
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()


def test_unknown_options_of_training_have_no_effect(cfg: Callable[[str], Description]) -> None:
    text = (NET + HEAD).replace("[convolutional]\n", "[convolutional]\nstopbackward=800\nassisted_excitation=4000\nxnor=0\nnonsense=?\n")
    assert re.sub(r"made", "", cfg(text).name) == ""


def test_silu_is_swish(tmp_path: Path) -> None:
    path = tmp_path / "a.cfg"
    path.write_text(TINY_CFG.read_text().replace("activation=leaky", "activation=silu").replace("activation=mish", "activation=silu"))
    activations = {layer.activation for layer in describe(path).convolutions}
    assert activations == {Activation.SWISH, Activation.LINEAR} - ({Activation.LINEAR} - activations)
    assert Activation.SWISH in activations


SMALL = "[net]\nwidth=32\nheight=32\n[convolutional]\nfilters=14\nactivation={activation}\n[yolo]\nanchors=1,2, 3,4, 5,6\nclasses=2\n{more}"


@pytest.mark.parametrize(
    ("activation", "more", "codes"),
    [
        ("logistic", "num=2\nnew_coords=1", ["model.anchors_cut"]),
        ("linear", "num=3\nmask=0,1\nnew_coords=1", ["model.linear_new_coords"]),
        ("linear", "num=3\nmask=0,1\nnew_coords=0", []),
        ("linear", "num=3\nmask=0,1\nScale_X_Y=2", ["model.option_misspelt"]),
    ],
)
def test_notes_tell_what_a_cfg_does_silently(tmp_path: Path, activation: str, more: str, codes: list[str]) -> None:
    path = tmp_path / "a.cfg"
    path.write_text(SMALL.format(activation=activation, more=more))
    notes = describe(path).notes
    assert [note.fields["problem"].code for note in notes] == codes
    assert all(str(note).startswith(f"{path}, line ") for note in notes)


def test_equal_notes_about_many_sections_are_one(tmp_path: Path) -> None:
    path = tmp_path / "a.cfg"
    head = "[yolo]\nanchors=1,2, 3,4\nnum=2\nmask=0,1\nclasses=2\nNew_Coords=1\n"
    layers = "[convolutional]\nfilters=14\nactivation=linear\n" + head + "[route]\nlayers=-2\n" + head
    path.write_text(f"[net]\nwidth=32\nheight=32\n{layers}")
    (note,) = describe(path).notes
    assert (note.code, note.fields["count"]) == ("model.also_elsewhere", 1)
    assert str(note).endswith("New_Coords= is ignored, Darknet's option is new_coords=; also in 1 other section")


def test_an_error_says_which_anchors_num_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "a.cfg"
    path.write_text(SMALL.format(activation="linear", more="num=1\nmask=1,2"))
    assert [note.fields["problem"].code for note in _notes_of_error(path)] == ["model.anchors_cut"]


def test_an_error_names_an_option_in_wrong_case(tmp_path: Path) -> None:
    path = tmp_path / "a.cfg"
    path.write_text(SMALL.format(activation="linear", more="num=3\nmask=0,1").replace("filters", "Filters"))
    assert [note.fields["problem"].code for note in _notes_of_error(path)] == ["model.option_misspelt"]


def _notes_of_error(path: Path) -> tuple[Notice, ...]:
    with pytest.raises(ModelError) as caught:
        describe(path)
    notice = caught.value.notice
    return notice.fields.get("hints", ()) if notice.code == "model.with_hints" else ()

"""Writes cfgs with the structure of Darknet's published detectors, at their own size or with fewer channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

ANCHORS = "10,13, 16,30, 33,23, 30,61, 62,45, 59,119, 116,90, 156,198, 373,326"
TINY_ANCHORS = "10,14, 23,27, 37,58, 81,82, 135,169, 344,319"


class Cfg:
    """Collects the sections of a cfg. width: factor for the filters of all layers but the heads'. classes: of the heads.

    Each method for a layer returns the layer's index in Darknet. Layers that others name are given by these indices.
    """

    def __init__(self, width: float, classes: int) -> None:
        self.width, self.classes, self.count = width, classes, 0
        self.text = ""

    def add(self, name: str, **options: object) -> int:
        self.text += f"\n[{name}]\n" + "".join(f"{key}={value}\n" for key, value in options.items())
        self.count += 1
        return self.count - 1

    def scaled(self, filters: int) -> int:
        return max(1, round(filters * self.width))

    def conv(self, filters: int, size: int = 1, stride: int = 1, activation: str = "leaky", **options: object) -> int:
        options = {"batch_normalize": 1} | options
        return self.add("convolutional", filters=self.scaled(filters), size=size, stride=stride, pad=1, activation=activation, **options)

    def route(self, *layers: int) -> int:
        return self.add("route", layers=",".join(map(str, layers)))

    def maxpool(self, size: int, stride: int) -> int:
        return self.add("maxpool", size=size, stride=stride)

    def upsample(self) -> int:
        return self.add("upsample", stride=2)

    def shortcut(self, source: int, activation: str = "linear") -> int:
        return self.add("shortcut", **{"from": source}, activation=activation)

    def pyramid(self) -> None:
        """Spatial pyramid pooling of the previous layer."""
        first = self.count - 1
        pools = []
        for size in (5, 9, 13):
            if pools:
                self.route(first)
            pools.append(self.maxpool(size, 1))
        self.route(*reversed(pools), first)

    def yolo(self, mask: Sequence[int], anchors: str, activation: str = "linear", **options: object) -> None:
        """The last convolution of a head and its [yolo]."""
        self.add("convolutional", filters=len(mask) * (5 + self.classes), size=1, stride=1, pad=1, activation=activation)
        numbers = {"mask": ",".join(map(str, mask)), "anchors": anchors, "classes": self.classes, "num": anchors.count(",") // 2 + 1}
        self.add("yolo", **numbers, **options)


def _merge_enlarged(cfg: Cfg, filters: int, stage: int) -> None:
    """Enlarge the last layer, and append it to an earlier one."""
    cfg.conv(filters)
    up = cfg.upsample()
    cfg.route(stage)
    cfg.conv(filters)
    cfg.route(-1, up)


def yolov3(cfg: Cfg, *, pyramid: bool = False, levels: int = 3) -> None:
    """YOLOv3, -spp and -openimages; -5l with five heads."""
    stages = [cfg.conv(32, 3)]
    for filters, blocks in ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4)):
        cfg.conv(filters, 3, 2)
        for _ in range(blocks):
            cfg.conv(filters // 2)
            cfg.conv(filters, 3)
            cfg.shortcut(-3)
        stages.append(cfg.count - 1)
    anchors = ANCHORS if levels == 3 else f"4,4, 6,7, 8,12, 12,6, 9,9, 14,12, {ANCHORS}"
    for level in range(levels):
        filters = 512 >> level
        if level:
            cfg.route(-4)
            cfg.conv(filters)
            cfg.upsample()
            cfg.route(-1, stages[-1 - level])
        for number in range(3):
            cfg.conv(filters)
            if number == 1 and pyramid and not level:
                cfg.pyramid()
                cfg.conv(filters)
            cfg.conv(2 * filters, 3)
        start = 3 * (levels - 1 - level)
        cfg.yolo(range(start, start + 3), anchors)


def _tiny_backbone(cfg: Cfg) -> int:
    """The first layers of the small networks. Returns the layer at stride 16."""
    for filters in (16, 32, 64, 128, 256):
        stage = cfg.conv(filters, 3)
        cfg.maxpool(2, 2)
    cfg.conv(512, 3)
    cfg.maxpool(2, 1)
    return stage


def yolov3_tiny(cfg: Cfg) -> None:
    """YOLOv3-tiny."""
    stage = _tiny_backbone(cfg)
    cfg.conv(1024, 3)
    cfg.conv(256)
    cfg.conv(512, 3)
    cfg.yolo((3, 4, 5), TINY_ANCHORS)
    cfg.route(-4)
    cfg.conv(128)
    cfg.upsample()
    cfg.route(-1, stage)
    cfg.conv(256, 3)
    cfg.yolo((0, 1, 2), TINY_ANCHORS)


def yolov3_tiny_prn(cfg: Cfg) -> None:
    """YOLOv3-tiny-PRN: residuals between layers of 128 and 256 channels."""
    stage = _tiny_backbone(cfg)
    cfg.conv(512, 3)
    cfg.shortcut(-3, "leaky")
    _partial_residual_heads(cfg, stage)


def _partial_residual_heads(cfg: Cfg, stage: int) -> None:
    cfg.conv(256)
    cfg.conv(256, 3)
    cfg.shortcut(-2, "leaky")
    cfg.yolo((3, 4, 5), TINY_ANCHORS)
    cfg.route(-4)
    cfg.conv(128)
    cfg.upsample()
    cfg.shortcut(stage, "leaky")
    cfg.conv(128, 3)
    cfg.shortcut(-3, "leaky")
    cfg.shortcut(stage, "leaky")
    cfg.yolo((1, 2, 3), TINY_ANCHORS)


def enet_coco(cfg: Cfg) -> None:
    """EfficientNet-B0 with the heads of PRN."""
    cfg.conv(32, 3, 2, "swish")
    # expanded filters, kernel, stride, filters of the squeeze, filters, whether the block's input is added
    blocks = [(32, 3, 1, 8, 16, False), (96, 3, 2, 16, 24, False), (144, 3, 1, 8, 24, True), (144, 5, 2, 8, 40, False)]
    blocks += [(192, 5, 1, 16, 40, True), (192, 3, 1, 16, 80, False), *[(384, 3, 1, 24, 80, True)] * 2, (384, 5, 2, 24, 112, False)]
    blocks += [
        *[(576, 5, 1, 32, 112, True)] * 2,
        (576, 5, 2, 32, 192, False),
        *[(960, 5, 1, 64, 192, True)] * 3,
        (960, 3, 1, 64, 320, False),
    ]
    stage = 0
    for expanded, size, stride, squeezed, filters, is_residual in blocks:
        before = cfg.count
        cfg.conv(expanded, 1, 1, "swish")
        if stride == 2:
            stage = before
        cfg.conv(expanded, size, stride, "swish", groups=cfg.scaled(expanded))
        cfg.add("avgpool")
        cfg.conv(squeezed, 1, 1, "swish", batch_normalize=0)
        cfg.conv(expanded, 1, 1, "logistic", batch_normalize=0)
        cfg.add("scale_channels", **{"from": -4})
        cfg.conv(filters, 1, 1, "linear")
        if is_residual:
            cfg.add("dropout", probability=".0")
            cfg.shortcut(-9)
    cfg.conv(1280, 1, 1, "swish")
    _partial_residual_heads(cfg, stage)


def csresnext50_panet_spp(cfg: Cfg) -> None:
    """CSPResNeXt-50 with SPP and PANet: the first residual adds 64 to 128 channels."""
    cfg.conv(64, 7, 2)
    cfg.maxpool(2, 2)
    stages = []
    for number, (filters, blocks) in enumerate(((128, 3), (256, 3), (512, 5), (1024, 2))):
        if number:
            cfg.conv(filters, 3, 2, groups=cfg.scaled(32))
            cfg.conv(filters, 1, 1, "linear")
            skipped = cfg.count - 1
            cfg.route(-2)
            cfg.conv(filters, 1, 1, "linear")
        else:
            skipped = cfg.conv(filters)
            cfg.route(-2)
            cfg.conv(64)
        for _ in range(blocks):
            cfg.conv(filters)
            cfg.conv(filters, 3, groups=cfg.scaled(32))
            cfg.conv(filters, 1, 1, "linear")
            cfg.shortcut(-4, "leaky")
        cfg.conv(filters)
        cfg.route(-1, skipped)
        stages.append(cfg.conv(2 * filters))
    cfg.conv(512)
    cfg.conv(1024, 3)
    cfg.conv(512)
    cfg.pyramid()
    cfg.conv(512)
    cfg.conv(1024, 3)
    levels = [cfg.conv(512)]
    for filters, stage in ((256, stages[2]), (128, stages[1])):
        _merge_enlarged(cfg, filters, stage)
        for _ in range(2):
            cfg.conv(filters)
            cfg.conv(2 * filters, 3)
        levels.append(cfg.conv(filters))
    for number, filters in enumerate((128, 256, 512)):
        if number:
            cfg.route(-4)
            cfg.conv(filters, 3, 2)
            cfg.route(-1, levels[2 - number])
            for _ in range(2):
                cfg.conv(filters)
                cfg.conv(2 * filters, 3)
            cfg.conv(filters)
        cfg.conv(2 * filters, 3)
        cfg.yolo(range(3 * number, 3 * number + 3), ANCHORS)


def _elan(cfg: Cfg, hidden: int, inner: int, pairs: int, taps: int, filters: int, activation: str) -> int:
    """YOLOv7's block: two branches and a chain of convolutions, some of them joined. taps: every how many the chain's outputs count."""
    branches = [cfg.conv(hidden, 1, 1, activation)]
    cfg.route(-2)
    branches.append(cfg.conv(hidden, 1, 1, activation))
    chain = [cfg.conv(inner, 3, 1, activation) for _ in range(pairs)]
    cfg.route(*reversed([*branches, *chain[taps - 1 :: taps]]))
    return cfg.conv(filters, 1, 1, activation)


def _halve(cfg: Cfg, filters: int, *others: int) -> None:
    """YOLOv7's down-sampling: max pooling beside a convolution with stride 2."""
    cfg.maxpool(2, 2)
    pooled = cfg.conv(filters, 1, 1, "swish")
    cfg.route(-3)
    cfg.conv(filters, 1, 1, "swish")
    cfg.conv(filters, 3, 2, "swish")
    cfg.route(-1, pooled, *others)


_SCALED_HEAD = {"scale_x_y": 2.0, "new_coords": 1, "nms_kind": "diounms", "beta_nms": 0.6}


def yolov7(cfg: Cfg, *, is_x: bool = False) -> None:
    """YOLOv7 and YOLOv7-x."""
    base, pairs = (80, 6) if is_x else (64, 4)
    cfg.conv(base // 2, 3, 1, "swish")
    cfg.conv(base, 3, 2, "swish")
    cfg.conv(base, 3, 1, "swish")
    cfg.conv(2 * base, 3, 2, "swish")
    stages = [_elan(cfg, 64, 64, pairs, 2, 4 * base, "swish")]
    for halved, hidden, filters in ((2 * base, 128, 8 * base), (4 * base, 256, 16 * base), (8 * base, 256, 16 * base)):
        _halve(cfg, halved)
        stages.append(_elan(cfg, hidden, hidden, pairs, 2, filters, "swish"))
    levels = [_pyramid_block(cfg, 8 * base, "swish", deep=True)]
    for filters, hidden, stage in ((4 * base, 256, stages[2]), (2 * base, 128, stages[1])):
        cfg.conv(filters, 1, 1, "swish")
        up = cfg.upsample()
        cfg.route(stage)
        cfg.conv(filters, 1, 1, "swish")
        cfg.route(-1, up)
        levels.append(_neck(cfg, hidden, filters, is_x, pairs))
    outputs = [levels[2]]
    for filters, hidden, level in ((2 * base, 256, levels[1]), (4 * base, 512, levels[0])):
        _halve(cfg, filters, level)
        outputs.append(_neck(cfg, hidden, 2 * filters, is_x, pairs))
    for number, (output, filters) in enumerate(zip(outputs, (4 * base, 8 * base, 16 * base), strict=True)):
        cfg.route(output)
        cfg.conv(filters, 3, 1, "swish")
        cfg.yolo(range(3 * number, 3 * number + 3), ANCHORS, "logistic", **_SCALED_HEAD)


def _neck(cfg: Cfg, hidden: int, filters: int, is_x: bool, pairs: int) -> int:
    inner, taps = (hidden, 2) if is_x else (hidden // 2, 1)
    return _elan(cfg, hidden, inner, pairs, taps, filters, "swish")


def _pyramid_block(cfg: Cfg, filters: int, activation: str, *, deep: bool) -> int:
    """Spatial pyramid pooling beside a branch (SPPCSP). deep: YOLOv7's, not -tiny's."""
    beside = cfg.conv(filters, 1, 1, activation)
    cfg.route(-2)
    cfg.conv(filters, 1, 1, activation)
    if deep:
        cfg.conv(filters, 3, 1, activation)
        cfg.conv(filters, 1, 1, activation)
    cfg.pyramid()
    cfg.conv(filters, 1, 1, activation)
    if deep:
        cfg.conv(filters, 3, 1, activation)
    cfg.route(beside, -1)
    return cfg.conv(filters, 1, 1, activation)


def yolov7_tiny(cfg: Cfg) -> None:
    """YOLOv7-tiny."""
    cfg.conv(32, 3, 2)
    cfg.conv(64, 3, 2)
    stages = [_elan(cfg, 32, 32, 2, 1, 64, "leaky")]
    for hidden in (64, 128, 256):
        cfg.maxpool(2, 2)
        stages.append(_elan(cfg, hidden, hidden, 2, 1, 2 * hidden, "leaky"))
    levels = [_pyramid_block(cfg, 256, "leaky", deep=False)]
    for filters, stage in ((128, stages[2]), (64, stages[1])):
        _merge_enlarged(cfg, filters, stage)
        levels.append(_elan(cfg, filters // 2, filters // 2, 2, 1, filters, "leaky"))
    outputs = [levels[2]]
    for filters, level in ((128, levels[1]), (256, levels[0])):
        cfg.conv(filters, 3, 2)
        cfg.route(-1, level)
        outputs.append(_elan(cfg, filters // 2, filters // 2, 2, 1, filters, "leaky"))
    for number, (output, filters) in enumerate(zip(outputs, (128, 256, 512), strict=True)):
        cfg.route(output)
        cfg.conv(filters, 3)
        cfg.yolo(range(3 * number, 3 * number + 3), ANCHORS, "logistic", **_SCALED_HEAD)


def yolov2(cfg: Cfg) -> None:
    """YOLOv2, with Darknet's [reorg] and one [region]."""
    for filters in (32, 64):
        cfg.conv(filters, 3)
        cfg.maxpool(2, 2)
    for filters, pairs in ((128, 1), (256, 1), (512, 2), (1024, 2)):
        cfg.conv(filters, 3)
        for _ in range(pairs):
            cfg.conv(filters // 2)
            stage = cfg.conv(filters, 3)
        if filters < 1024:
            fine = stage
            cfg.maxpool(2, 2)
    cfg.conv(1024, 3)
    coarse = cfg.conv(1024, 3)
    cfg.route(fine)
    cfg.conv(64)
    cfg.add("reorg", stride=2)
    cfg.route(-1, coarse)
    cfg.conv(1024, 3)
    _region(cfg)


def yolov2_tiny(cfg: Cfg) -> None:
    """YOLOv2-tiny."""
    for filters in (16, 32, 64, 128, 256):
        cfg.conv(filters, 3)
        cfg.maxpool(2, 2)
    cfg.conv(512, 3)
    cfg.maxpool(2, 1)
    cfg.conv(1024, 3)
    cfg.conv(512, 3)
    _region(cfg)


def _region(cfg: Cfg) -> None:
    anchors = "0.57273,0.677385, 1.87446,2.06253, 3.33843,5.47434, 7.88282,3.52778, 9.77052,9.16828"
    cfg.add("convolutional", filters=5 * (5 + cfg.classes), size=1, stride=1, pad=1, activation="linear")
    cfg.add("region", anchors=anchors, classes=cfg.classes, coords=4, num=5, softmax=1, bias_match=1, thresh=".6")


ARCHITECTURES: Mapping[str, Callable[[Cfg], None]] = MappingProxyType(
    {
        "yolov2": yolov2,
        "yolov2-tiny": yolov2_tiny,
        "yolov3": yolov3,
        "yolov3-spp": lambda cfg: yolov3(cfg, pyramid=True),
        "yolov3-5l": lambda cfg: yolov3(cfg, levels=5),
        "yolov3-tiny": yolov3_tiny,
        "yolov3-tiny-prn": yolov3_tiny_prn,
        "enet-coco": enet_coco,
        "csresnext50-panet-spp": csresnext50_panet_spp,
        "yolov7": yolov7,
        "yolov7-tiny": yolov7_tiny,
        "yolov7x": lambda cfg: yolov7(cfg, is_x=True),
    }
)


def make_cfg(name: str, side: int, width: float = 1.0, classes: int = 80) -> str:
    """The text of a cfg. side: of the network's input, pixels. width: factor for the channels. yolov3-openimages: 601 classes."""
    cfg = Cfg(width, classes)
    ARCHITECTURES[name](cfg)
    return f"[net]\nwidth={side}\nheight={side}\nchannels=3\n{cfg.text}"

"""Trains the demo model on rendered scenes.

    python -m tools.street_renderer.training.train DATA OUT --cfg resources/demo/framefleet-demo.cfg --minutes 12 [--stop-after 8]

DATA is a folder that ``tools.street_renderer.dataset.training_set`` wrote. The learning rate depends on the training time,
``--minutes`` in total. OUT/state.pt keeps the state when a call stops, and the next call resumes from it. Each call also
writes OUT/framefleet-demo.weights, the moving average of the weights.
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from tools.street_renderer.training import augment, loss, network
from tools.street_renderer.training.augment import Store

WARM_UP = 400
"""Steps over which the learning rate rises."""


def open_store(folder: Path, device: torch.device) -> Store:
    """Load a rendered data set to the device."""
    pictures = np.load(folder / "pictures.npy", mmap_mode="r")
    kept = torch.empty(pictures.shape, dtype=torch.uint8, device=device)
    for start in range(0, len(pictures), 512):
        kept[start : start + 512] = torch.from_numpy(np.array(pictures[start : start + 512])).to(device)
    boxes, kinds, visible = (torch.from_numpy(np.load(folder / f"{name}.npy")).to(device) for name in ("boxes", "kinds", "visible"))
    return Store(kept, boxes, kinds.long(), visible)


class Average:
    """Exponential moving average of a model, its running statistics included."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay, self.steps = decay, 0

    @torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]  # torch may be missing
    def update(self, model: nn.Module) -> None:
        """Move the average towards the model."""
        self.steps += 1
        decay = self.decay * (1 - math.exp(-self.steps / 1500))
        mine, other = [], []
        for a, b in zip(self.model.state_dict().values(), model.state_dict().values(), strict=True):
            if a.dtype.is_floating_point:
                mine.append(a)
                other.append(b)
            else:
                a.copy_(b)
        torch._foreach_lerp_(mine, other, 1 - decay)


class Trainer:
    """Trains a model: holds the model, its optimizer and the state of the training."""

    def __init__(self, cfg: Path, device: torch.device, rate: float, compiled: bool, start: Path | None = None) -> None:
        torch.manual_seed(0)
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = True
        self.device, self.rate = device, rate
        self.model = network.load(cfg)
        if start:
            network.restore(self.model, start)
        self.model.to(device=device, memory_format=torch.channels_last)
        self.average = Average(self.model, 0.9995)
        flat = [p for p in self.model.parameters() if p.ndim < 2]
        full = [p for p in self.model.parameters() if p.ndim >= 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": full, "weight_decay": 0.03}, {"params": flat, "weight_decay": 0.0}],
            rate,
            betas=(0.9, 0.99),
            fused=device.type == "cuda",
        )
        self.forward = torch.compile(self.model) if compiled else self.model
        self.step, self.seconds = 0, 0.0
        self.generator = torch.Generator(device).manual_seed(1)
        description = self.model.description
        self.width, self.height, self.heads = description.width, description.height, description.heads

    def save(self, path: Path) -> None:
        """Write everything that ``restore`` needs to resume."""
        torch.save({"model": self.model.state_dict(), "average": self.average.model.state_dict(), "average_steps": self.average.steps,
        "optimizer": self.optimizer.state_dict(),
                    "step": self.step, "seconds": self.seconds, "generator": self.generator.get_state()}, path)  # fmt: skip

    def restore(self, path: Path) -> None:
        """Resume from a file that ``save`` wrote."""
        state = torch.load(path, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.average.model.load_state_dict(state["average"])
        self.average.steps, self.step, self.seconds = state["average_steps"], state["step"], state["seconds"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"].cpu())

    def train_step(self, store: Store, batch: int, progress: float) -> Tensor:
        """Train one step; return the parts of the loss (box, object, class)."""
        factor = min(1.0, (self.step + 1) / WARM_UP) * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(progress, 1))))
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate * factor
        # the last part of the training sees only single pictures, as detection does
        drawn = augment.draw(store, batch, self.width, self.height, self.generator, 0.4 if progress < 0.85 else 0.0)
        pictures = drawn.pictures.contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            heads = self.forward(pictures)
        total, parts = loss.loss(heads, self.heads, self.width, self.height, drawn.boxes, drawn.kinds, drawn.wanted, drawn.ignored)
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        self.optimizer.step()
        self.average.update(self.model)
        self.step += 1
        return parts


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--stop-after", type=float, default=1e9, help="minutes of this call")
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--start", type=Path, help="weights to start from instead of fresh ones")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=1 << 30, help="stop after this many steps in total")
    a = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    a.out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    store = open_store(a.data, device)
    print(f"{len(store.pictures)} pictures in {time.monotonic() - begun:.0f} s", flush=True)
    trainer = Trainer(a.cfg, device, a.rate, a.compile, a.start)
    state = a.out / "state.pt"
    if state.exists():
        trainer.restore(state)
    before, start = trainer.seconds, time.monotonic()
    shown, counted, total = start, 0, torch.zeros(3, device=device)
    while trainer.step < a.steps:
        trainer.seconds = before + time.monotonic() - start
        progress = trainer.seconds / (a.minutes * 60)
        if progress >= 1 or time.monotonic() - begun > a.stop_after * 60:
            break
        total += trainer.train_step(store, a.batch, progress)
        counted += 1
        now = time.monotonic()
        if now - shown > 15:
            box, objects, classes = (total / counted).tolist()
            speed = counted * a.batch / (now - shown)
            print(
                f"{progress:6.1%} step {trainer.step} box {box:.4f} object {objects:.4f} class {classes:.4f} {speed:.0f} pictures/s",
                flush=True,
            )
            total.zero_()
            shown, counted = now, 0
    trainer.save(state)
    network.save(trainer.average.model, a.out / "framefleet-demo.weights")
    print(f"stopped at step {trainer.step}, {trainer.seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()

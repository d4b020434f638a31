"""The learner: draws positions from the window, learns, and now and then writes a checkpoint and a network. It needs PyTorch.

    learner = Learner(run)     from the latest checkpoint, or anew
    learner.learn(steps=100)   as long as there are positions that were not learnt often enough
    learner.save()             a checkpoint, and a network for self-play and the gate

A checkpoint has all that learning goes on from: weights and their average, optimiser, random state, counters, and how far each
file of games was read. Read first: `window.py`, `targets.py`, `model.py`.
"""

import math
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from anabranch.errors import TrainingError
from anabranch.nets.model import export
from anabranch.train.model import Outputs, Trained
from anabranch.train.run import CHECKPOINTS, NETWORKS, Run, replace_file
from anabranch.train.settings import LearnerSettings, text_of
from anabranch.train.targets import Batch, encoded
from anabranch.train.window import Window

READ_EVERY = 2.0  # seconds between two looks for new games
TELL_EVERY = 100  # steps between two lines in the log
WAIT = 0.2
BOARD = "tensorboard"  # the folder for it, in the run's
FORM = 2  # of checkpoints
HEADS = "`reply`, `moves_left`, `ownership` and `score`"  # the settings that decide which heads a network has
RUN, SETTINGS, ROWS = "anabranch.run", "anabranch.settings", "anabranch.rows"  # what a network says of where it comes from


class Learner:
    """Learns in one process."""

    def __init__(self, run: Run) -> None:
        self.run, self.settings = run, run.settings.learner
        torch.set_num_threads(self.settings.threads)
        self.device = device_of(self.settings)
        self.is_mixed = computes_mixed(self.settings, self.device)
        self.model = Trained(run.game, run.settings.network, run.settings.targets).to(self.device)
        self.average = torch.optim.swa_utils.AveragedModel(
            self.model, avg_fn=averaging(self.settings.averaging), use_buffers=True
        )
        self.optimizer = torch.optim.AdamW(
            parameter_groups(self.model, self.settings.weight_decay), lr=self.settings.learning_rate
        )
        self.window = Window(run)
        self.random = np.random.default_rng(self.settings.seed)
        self.steps = self.samples = self.exported_rows = self.exported_samples = 0
        self._looked = -math.inf
        self._sums: dict[str, float] = {}
        self._board = tensorboard(run.path / BOARD)
        if run.checkpoints:
            self._load(run.checkpoints[-1])
        if not run.networks:
            self.export()

    # --- learning ---

    def learn(
        self,
        steps: int | None = None,
        seconds: float | None = None,
        *,
        wait: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> int:
        """Learn for so many steps or seconds, or until `stop` says so; returns the number of steps. Once all positions have
        been learnt often enough it ends, or, if it is to `wait`, goes on when there are more games."""
        began, done = time.monotonic(), 0
        while (steps is None or done < steps) and (seconds is None or time.monotonic() - began < seconds) and not stop():
            self._look()
            if self.may_learn():
                self.step()
                done += 1
            elif wait:
                time.sleep(WAIT)
            else:
                return done
            if self.is_due():
                self.save()
        return done

    def may_learn(self) -> bool:
        """Whether there are enough positions, and not all of them have been learnt often enough."""
        total = self.window.total
        enough = total >= self.settings.first and len(self.window) > 0  # games may have been deleted
        return enough and self.samples + self.settings.batch <= self.settings.reuse * total

    def is_due(self) -> bool:
        """Whether it is time for the next network: so many new positions, and at least half of the steps that they allow."""
        new, wanted = self.window.total - self.exported_rows, self.settings.export_every
        return new >= wanted and self.samples - self.exported_samples >= 0.5 * self.settings.reuse * wanted

    def step(self) -> None:
        """One step."""
        settings = self.settings
        batch = encoded(self.run.game, self.window.draw(settings.batch, self.random), self.run.settings.targets, self.random)
        rate = rate_at(self.steps, settings)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.model.train()
        planes = torch.from_numpy(batch.planes).to(self.device, memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.is_mixed):
            outputs = self.model(planes)
        outputs = Outputs(*(None if output is None else output.float() for output in outputs))
        losses = self.losses(outputs, batch)
        self.optimizer.zero_grad(set_to_none=True)
        losses["loss"].backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip if settings.clip > 0.0 else math.inf)
        if not torch.isfinite(norm):
            raise TrainingError(
                f"a gradient is not finite at step {self.steps}: lower learner.learning_rate (now {settings.learning_rate:g}) "
                "and continue from the last checkpoint"
            )
        self.optimizer.step()
        self.average.update_parameters(self.model)
        self.steps += 1
        self.samples += settings.batch
        self._count(losses, outputs, batch, float(norm), rate)

    def losses(self, outputs: Outputs, batch: Batch) -> dict[str, Any]:
        """The loss, and its parts."""
        weights = self.run.settings.targets
        policy = torch.from_numpy(batch.policy).to(self.device)
        logits = torch.log_softmax(outputs.policy.reshape(policy.shape), dim=2)
        found = {"policy": -(policy * logits).sum((1, 2)).mean()}
        found["value"] = functional.mse_loss(outputs.value, torch.from_numpy(batch.value).to(self.device))
        loss = found["policy"] + weights.value * found["value"]
        if outputs.reply is not None:
            reply = torch.from_numpy(batch.reply).to(self.device)
            if bool((reply >= 0).any()):
                found["reply"] = functional.cross_entropy(outputs.reply, reply, ignore_index=-1)
                loss = loss + weights.reply * found["reply"]
        if outputs.left is not None:
            found["left"] = functional.smooth_l1_loss(outputs.left, torch.from_numpy(batch.left).to(self.device))
            loss = loss + weights.moves_left * found["left"]
        found |= self._losses_of_ends(outputs, batch)
        for name in ("ownership", "score"):
            if name in found:
                loss = loss + getattr(weights, name) * found[name]
        return {"loss": loss, **found}

    def _losses_of_ends(self, outputs: Outputs, batch: Batch) -> dict[str, Any]:
        """The losses of ownership and score, over positions of games whose end is known."""
        found: dict[str, Any] = {}
        if batch.settled is None or not batch.settled.any():
            return found
        known = torch.from_numpy(batch.settled).to(self.device)
        if outputs.ownership is not None:
            owned = (1.0 + torch.from_numpy(batch.ownership).to(self.device)) / 2.0  # as a probability
            found["ownership"] = functional.binary_cross_entropy_with_logits(outputs.ownership[known], owned[known])
        if outputs.score is not None:
            score = torch.from_numpy(batch.score).to(self.device)
            found["score"] = functional.smooth_l1_loss(outputs.score[known], score[known])
        return found

    def _count(self, losses: dict[str, Any], outputs: Outputs, batch: Batch, norm: float, rate: float) -> None:
        """Sum up what the log says every so many steps."""
        with torch.no_grad():
            shape = batch.policy.shape
            logits = torch.log_softmax(outputs.policy.reshape(shape), dim=2)
            facts = {name: float(value) for name, value in losses.items()}
            facts["entropy"] = float(-(logits.exp() * logits).sum(2).mean())
            facts["accuracy"] = float((logits.argmax(2).cpu().numpy() == batch.policy.argmax(2)).mean())
            given = outputs.value.cpu().numpy()
            decided = np.abs(batch.value) > 0.1
            right = np.sign(given[decided]) == np.sign(batch.value[decided])
            facts["value_accuracy"] = float(right.mean()) if decided.any() else 0.0
            facts["value_spread"] = float(given.std())
            facts["gradient"] = norm
        for name, value in facts.items():
            self._sums[name] = self._sums.get(name, 0.0) + value
        self._sums["steps"] = self._sums.get("steps", 0.0) + 1
        if self.steps % TELL_EVERY == 0:
            count = self._sums.pop("steps")
            means = {name: total / count for name, total in self._sums.items()}
            where = {"step": self.steps, "samples": self.samples, "rows": self.window.total, "games": self.window.games}
            self.run.log.add("step", **where, window=len(self.window), rate=rate, **means)
            if self._board is not None:
                for name, value in {**means, "rate": rate, "window": len(self.window)}.items():
                    self._board.add_scalar(name, value, self.steps)
            self._sums = {}

    def _look(self) -> None:
        if time.monotonic() - self._looked >= READ_EVERY:
            self.window.read()
            self._looked = time.monotonic()

    # --- what is kept ---

    def save(self) -> Path:
        """Write a network and a checkpoint; returns the network's path."""
        network = self.export()
        self.checkpoint()
        return network

    def checkpoint(self) -> None:
        """Write all that learning goes on from."""
        path = self.run.path / CHECKPOINTS / f"{self.steps:08}.pt"
        state = {
            "form": FORM,
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": self.random.bit_generator.state,
            "torch": torch.get_rng_state(),
            "steps": self.steps,
            "samples": self.samples,
            "exported": (self.exported_rows, self.exported_samples),
            "window": self.window.state(),
        }
        try:
            replace_file(path, lambda partial: torch.save(state, partial))
        except (OSError, RuntimeError) as error:  # what PyTorch raises when the disk is full
            raise TrainingError(f"{path} cannot be written: {_first_line(error)}") from None
        self.run.tidy(self.window.left())

    def export(self) -> Path:
        """Write the average of the weights as a network. The first network is used at once; others, if there is no gate."""
        networks = self.run.networks
        number = int(networks[-1].stem) + 1 if networks else 0
        path = self.run.path / NETWORKS / f"{number:06}.onnx"
        source = self.average.module if self.steps else self.model
        facts = {RUN: self.run.path.name, SETTINGS: text_of(self.run.settings, {}), ROWS: str(self.window.total)}
        net = source.net.to("cpu")
        try:
            replace_file(path, lambda partial: export(net, self.run.game, partial, facts))
        except OSError as error:
            raise TrainingError(f"{path} cannot be written: {error.strerror}") from None
        finally:
            source.net.to(self.device)
        self.exported_rows, self.exported_samples = self.window.total, self.samples
        self.run.log.add("network", network=path.name, step=self.steps, rows=self.window.total, games=self.window.games)
        if self.run.settings.gate.games == 0 or self.run.network_in_use is None:
            self.run.use(path)
        return path

    def _load(self, path: Path) -> None:
        """Go on from a checkpoint."""
        before = self.run.checkpoints[:-1]
        remedy = f"delete it to go on from {before[-1].name}" if before else "delete it to begin learning anew from the games"
        try:
            with zipfile.ZipFile(path) as archive:  # PyTorch writes checksums, but does not look at them
                wrong = archive.testzip()
            if wrong is not None:
                raise ValueError(f"the checksum of {wrong} is wrong")
            state = torch.load(path, map_location=self.device, weights_only=True)
            form = state["form"]
        except Exception as error:
            raise TrainingError(f"{path} is damaged ({_first_line(error)}); {remedy}") from None
        if form != FORM:
            raise TrainingError(f"{path} was written by another version of Anabranch; {remedy}")
        decays = [group["weight_decay"] for group in self.optimizer.param_groups]
        try:
            self.model.load_state_dict(state["model"])
            self.average.load_state_dict(state["average"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError, KeyError):
            raise TrainingError(
                f"{path} is of a network of another form: `size` in [network], or which of {HEADS} in [targets] are 0, has "
                f"changed. Take that back in {self.run.path / 'run.toml'} (where a missing line stands for the default), or "
                "begin another run"
            ) from None
        for group, decay in zip(self.optimizer.param_groups, decays, strict=True):
            group["weight_decay"] = decay  # the settings may have changed
        self.random.bit_generator.state = state["random"]
        torch.set_rng_state(state["torch"].cpu())
        self.steps, self.samples = state["steps"], state["samples"]
        self.exported_rows, self.exported_samples = state["exported"]
        self.window.restore(**state["window"])


def tensorboard(folder: Path) -> Any:
    """What writes for TensorBoard, if that is installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder))


def device_of(settings: LearnerSettings) -> torch.device:
    """Where to learn."""
    name = settings.device
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.zeros(1, device=name).device
    except (RuntimeError, AssertionError) as error:
        raise TrainingError(f"learner.device = {name!r} cannot be used: {_first_line(error)}") from None


def computes_mixed(settings: LearnerSettings, device: torch.device) -> bool:
    """Whether to compute in bfloat16: where the processor or the GPU has instructions for it, unless told otherwise."""
    if settings.precision != "auto":
        return settings.precision == "bfloat16"
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    asked = "_is_avx512_bf16_supported", "_is_amx_tile_supported"  # PyTorch has no public names for these
    return device.type == "cpu" and any(getattr(torch.cpu, name, lambda: False)() for name in asked)


def rate_at(step: int, settings: LearnerSettings) -> float:
    """The learning rate: rising, then halved every so many steps."""
    if step < settings.warm_up:
        return settings.learning_rate * (step + 1) / settings.warm_up
    decayed = settings.learning_rate * 0.5 ** ((step - settings.warm_up) / settings.half_life)
    return max(decayed, min(settings.least_rate, settings.learning_rate))


def averaging(decay: float) -> Callable[[Any, Any, Any], Any]:
    """An exponential average of weights that does not remember the first random ones for long."""

    def mean(average: Any, now: Any, count: Any) -> Any:
        kept = min(decay, (1.0 + float(count)) / (10.0 + float(count)))
        return average + (1.0 - kept) * (now - average) if average.is_floating_point() else now

    return mean


def parameter_groups(model: torch.nn.Module, decay: float) -> list[dict[str, Any]]:
    """Weights of layers decay; biases and normalisation do not."""
    weights = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    return [{"params": weights, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]

"""Precision follows the hardware: what `auto` means, what a slow setting is told, and what a run records."""

import pytest
import torch

from udfs import devices
from udfs.devices import chosen_precision, hardware_lines, hardware_parameters

CPU = torch.device("cpu")
GPU = torch.device("cuda", 0)


@pytest.mark.parametrize(
    ("setting", "speed", "expected", "warned"),
    [
        ("auto", 2.2, "bf16", False),  # AVX512-BF16 or AMX
        ("auto", 0.5, "fp32", False),  # AVX-512, bf16 emulated
        ("auto", 0.03, "fp32", False),  # AVX2
        ("auto", 1.0, "fp32", False),  # no gain: the more exact one
        ("bf16", 0.03, "bf16", True),
        ("bf16", 2.2, "bf16", False),
        ("fp16", 2.2, "fp16", True),
        ("fp32", 2.2, "fp32", False),
    ],
)
def test_precision_on_a_cpu(
    monkeypatch: pytest.MonkeyPatch, setting: str, speed: float, expected: str, warned: bool
) -> None:
    monkeypatch.setattr(devices, "bf16_speed", lambda: speed)
    chosen = chosen_precision(setting, CPU)
    assert (chosen.name, chosen.warning is not None) == (expected, warned)
    assert len(hardware_lines(setting, "cpu")) == 1 + warned
    if warned:
        assert "auto" in str(chosen.warning)
        assert f"{speed:.2g}" in str(chosen.warning)


@pytest.mark.parametrize(
    ("setting", "capability", "expected", "warned"),
    [("auto", (9, 0), "bf16", False), ("auto", (7, 5), "fp16", False), ("bf16", (7, 5), "bf16", True)],
)
def test_precision_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, setting: str, capability: tuple[int, int], expected: str, warned: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    chosen = chosen_precision(setting, GPU)
    assert (chosen.name, chosen.warning is not None) == (expected, warned)


def test_the_probe_measures_this_cpu() -> None:
    speed = devices.bf16_speed()
    assert 0 < speed < 100
    assert chosen_precision("auto", CPU).name == ("bf16" if speed >= devices.FASTER else "fp32")


def test_a_training_tells_what_the_hardware_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "bf16_speed", lambda: 0.03)
    found = hardware_parameters("auto", "cpu")
    assert (found["computed_in"], found["computed_on"]) == ("fp32", "cpu")
    assert int(found["cpu_threads"]) >= 1

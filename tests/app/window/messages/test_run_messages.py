import pytest
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.messages.run_messages import RunMessages
from framefleet.app.window.widgets.banner import BannerArea
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.pool.events import DeviceFailed
from framefleet.engine.types import DeviceId, of_device
from tests.support.notices import words
from tests.support.window import CPU

GPU = DeviceId("cuda", "0")
BROKEN = DeviceDescription(GPU, "Some Graphics", "TensorRT", (), problem=words("its driver is too old"))
WORKING = DeviceDescription(CPU, "Some Processor", "OpenVINO", ("fp32",))


@pytest.fixture
def banners(qtbot: QtBot) -> BannerArea:
    area = BannerArea()
    qtbot.addWidget(area)
    return area


@pytest.fixture
def notices(banners: BannerArea) -> RunMessages:
    return RunMessages(banners)


def test_a_restart_is_told_and_forgotten_once_the_device_works_again(banners: BannerArea, notices: RunMessages) -> None:
    notices.device_failed(DeviceFailed(CPU, of_device(CPU, words("the worker was killed")), True))
    assert banners.texts == ["cpu:0 is being restarted: the worker was killed"]
    notices.devices_changed([DeviceStatus(CPU, Phase.RESTARTING)])
    assert len(banners.texts) == 1
    notices.devices_changed([DeviceStatus(CPU, Phase.READY)])
    assert banners.texts == []


def test_a_device_that_is_out_leads_to_the_settings(qtbot: QtBot, banners: BannerArea, notices: RunMessages) -> None:
    notices.device_failed(DeviceFailed(GPU, words("no driver"), False))
    assert banners.texts == ["cuda:0 failed and is out of this run: no driver"]
    (banner,) = (child for child in banners.children() if hasattr(child, "dismiss"))
    with qtbot.waitSignal(notices.settings_requested):
        banner.button.click()


def test_running_on_the_cpu_beside_a_gpu_that_cannot_be_used_is_no_secret(banners: BannerArea, notices: RunMessages) -> None:
    notices.devices_found((WORKING, BROKEN))
    assert banners.texts == []  # nothing runs yet
    notices.devices_changed([DeviceStatus(CPU, Phase.READY)])
    assert banners.texts == ["Detection runs on the CPU: Not usable: cuda:0 (Some Graphics): its driver is too old"]
    notices.devices_changed([DeviceStatus(CPU, Phase.READY), DeviceStatus(GPU, Phase.READY)])
    assert banners.texts == []


def test_a_machine_without_a_gpu_is_told_nothing(banners: BannerArea, notices: RunMessages) -> None:
    notices.devices_found((WORKING,))
    notices.devices_changed([DeviceStatus(CPU, Phase.READY)])
    assert banners.texts == []


def test_a_refusal_is_told(banners: BannerArea, notices: RunMessages) -> None:
    notices.refused(words("cpu:0 is the last device"))
    assert banners.texts == ["That is not possible: cpu:0 is the last device"]

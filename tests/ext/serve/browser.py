"""A headless browser, where there is one."""

import os
import shutil
import warnings

import pytest

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--hide-scrollbars",
]  # fmt: skip


def start(profile):
    """A new browser, or a skipped test and a warning that nobody overlooks."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if not program or not driver:
        message = "NO BROWSER: the page was not tested; install chromium and chromium-driver (apt-get install …)"
        warnings.warn(pytest.PytestWarning(message), stacklevel=2)
        pytest.skip(message)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in [*FLAGS, f"--user-data-dir={profile}", "--window-size=1280,900"]:
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(profile / "downloads")})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    os.environ.setdefault("SE_AVOID_STATS", "true")
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(profile / "downloads")}
    )
    return browser


def resize(browser, width, height, is_phone=False):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

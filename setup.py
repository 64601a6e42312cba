"""The one thing that pyproject.toml cannot say: the folder plugins/ is installed as the package rocdbg_plugins."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["rocdbg*"]), "rocdbg_plugins"],
    package_dir={"rocdbg_plugins": "plugins"},
)

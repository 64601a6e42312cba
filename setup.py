"""The one thing that pyproject.toml cannot say: the folder plugins/ is installed as the package rocdbg_plugins."""

from setuptools import find_namespace_packages, setup

setup(
    packages=[*find_namespace_packages(include=["rocdbg*"]), "rocdbg_plugins"],  # tables are in a folder without code
    package_dir={"rocdbg_plugins": "plugins"},
)

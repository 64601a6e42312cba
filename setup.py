"""What pyproject.toml cannot say: the folder plugins/ is installed as the package rocdbg_plugins, and where there is a
C compiler, wheels bring the runtime library for programs along, ready-made. Without one, or with ROCDBG_PREBUILT=0,
they are for any machine, and rocdbg builds the library when it is first used.
"""

import os
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from setuptools import find_namespace_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

PREBUILT = Path("rocdbg/host/prebuilt")


def builder():
    """`rocdbg.host.compiling`, without what `import rocdbg` needs, which need not be there yet."""
    for name in ("rocdbg", "rocdbg.host"):
        package = sys.modules.setdefault(name, ModuleType(name))
        package.__path__ = [str(Path(__file__).parent.joinpath(*name.split(".")))]
    return import_module("rocdbg.host.compiling")


class BuildWithLibrary(build_py):
    """Adds the built libraries to what is installed."""

    prebuilt = False

    def run(self):
        super().run()
        folder = Path(self.build_lib) / PREBUILT
        shutil.rmtree(folder, ignore_errors=True)
        if self.editable_mode or os.environ.get("ROCDBG_PREBUILT") == "0" or not sys.platform.startswith("linux"):
            return
        build = builder()
        try:
            compilers = build.compilers()
        except build.RuntimeLibraryError:
            compilers = []
        for compiler in compilers:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                build.compile_into(compiler, folder)
            except (build.RuntimeLibraryError, OSError) as error:
                self.announce(f"the runtime library is left to be built later: {error}", level=2)
                shutil.rmtree(folder)
                continue
            for made in ("protocol.h", "stubs.c"):
                (folder / made).unlink()
            shutil.copy(folder / build.RUNTIME, folder / "copy")  # wheels have no links
            (folder / "copy").replace(folder / build.UNVERSIONED)
            return

    def get_outputs(self, include_bytecode=1):
        folder = Path(self.build_lib) / PREBUILT
        return [*super().get_outputs(include_bytecode), *map(str, folder.glob("*"))]


class Wheel(bdist_wheel):
    """For the machine that its library is for, and every Python 3."""

    def get_tag(self):
        if not any((Path(self.bdist_dir) / PREBUILT).glob("*")):
            return "py3", "none", "any"
        self.root_is_pure = False
        tag = super().get_tag()
        self.root_is_pure = True
        return "py3", "none", tag[2]


setup(
    packages=[*find_namespace_packages(include=["rocdbg*"]), "rocdbg_plugins"],  # tables are in a folder without code
    package_dir={"rocdbg_plugins": "plugins"},
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": Wheel},
)

"""rocdbg: a GDB-style debugger for AMD GPU kernels that needs no AMD GPU."""

from rocdbg import early

if early.is_command():
    early.prepare()  # before any other import, that of __future__ included

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rocdbg.dwarf.architecture import Architecture, register_architecture
from rocdbg.dwarf.reader.opening import Opener, register_opener
from rocdbg.errors import Error

if TYPE_CHECKING:
    from rocdbg.api import GpuFault as GpuFault
    from rocdbg.api import Image as Image
    from rocdbg.api import Local as Local
    from rocdbg.api import Sampler as Sampler
    from rocdbg.api import load as load
    from rocdbg.cli.debugger_api import Debugger as Debugger
    from rocdbg.debugger.annotate.annotated_file import annotate as annotate
    from rocdbg.host.program_api import Program as Program

__version__ = "0.3.0"

__all__ = ["Debugger", "Error", "GpuFault", "Image", "Local", "Program", "Sampler", "__version__", "annotate", "load"]

# Where public names live. They are imported when first used, so that `import rocdbg` costs nothing.
_LAZY = {
    "Debugger": "rocdbg.cli.debugger_api",
    "GpuFault": "rocdbg.api",
    "annotate": "rocdbg.debugger.annotate.annotated_file",
    "Image": "rocdbg.api",
    "Local": "rocdbg.api",
    "Sampler": "rocdbg.api",
    "Program": "rocdbg.host.program_api",
    "load": "rocdbg.api",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'rocdbg' has no attribute '{name}'")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


def _amdgcn() -> Architecture:
    return import_module("rocdbg.amdgcn").AMDGCN  # type: ignore[no-any-return]


def _amdgcn_gfx125() -> Architecture:
    return import_module("rocdbg.amdgcn").AMDGCN_GFX125  # type: ignore[no-any-return]


def _opener() -> Opener:
    return import_module("rocdbg.debug_objects").open_object  # type: ignore[no-any-return]


# The DWARF library knows neither GPUs nor files; both are registered here.
register_architecture("amdgcn", _amdgcn)
register_architecture("amdgcn_gfx125", _amdgcn_gfx125)
register_opener(_opener)

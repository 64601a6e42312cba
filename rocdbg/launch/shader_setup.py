"""The parts of a launch that are specific to shaders: registers that a driver sets, and user data instead of kernel
arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.codeobject import Kernel, Shader
from rocdbg.codeobject.shader_registers import register_number
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.raw_kernarg import RawKernarg
from rocdbg.launch.spec import ArgumentSpec, LaunchSpec


def configured(kernel: Kernel, spec: LaunchSpec) -> Kernel:
    """The kernel with the registers that the launch sets. Raises LaunchError if it sets some and the kernel is not a
    shader.
    """
    if not spec.registers:
        return kernel
    if not isinstance(kernel, Shader):
        raise LaunchError(
            "[launch] registers", f"{kernel.name} is not a shader; the registers of a kernel are set by its descriptor"
        )
    return kernel.with_registers({register_number(name): value for name, value in spec.registers.items()})


def raw_arguments(kernel: Kernel, spec: LaunchSpec, arguments: Sequence[ArgumentSpec]) -> RawKernarg | None:
    """The places of arguments if the launch itself states them; otherwise None. Raises LaunchError if they do not fit
    the kernel.
    """
    is_shader = isinstance(kernel, Shader)
    if (spec.kernarg if is_shader else spec.user_data) is not None:
        given, wanted = ("kernarg", "`user_data`") if is_shader else ("user_data", "`kernarg` or arguments")
        what = "shader" if is_shader else "kernel"
        raise LaunchError(f"[launch] {given}", f"{kernel.name} is a {what}; give {wanted} instead")
    if is_shader:
        return RawKernarg.of(spec.user_data, arguments, "user_data")
    return RawKernarg.of(spec.kernarg, arguments)


__all__ = ["configured", "raw_arguments"]

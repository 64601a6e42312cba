"""What a launch says of shaders: registers that their driver sets, user data in the place of kernel arguments."""

from __future__ import annotations

from collections.abc import Sequence

from rocdbg.codeobject import Kernel, Shader
from rocdbg.codeobject.shader_registers import register_number
from rocdbg.launch.errors import LaunchError
from rocdbg.launch.raw_kernarg import RawKernarg
from rocdbg.launch.spec import ArgumentSpec, LaunchSpec


def configured(kernel: Kernel, spec: LaunchSpec) -> Kernel:
    """The kernel with the registers that the launch sets for it. Raises LaunchError if it is not a shader."""
    if not spec.registers:
        return kernel
    if not isinstance(kernel, Shader):
        raise LaunchError("[launch] registers", f"{kernel.name} is not a shader; its descriptor has them")
    return kernel.with_registers({register_number(name): value for name, value in spec.registers.items()})


def raw_arguments(kernel: Kernel, spec: LaunchSpec, arguments: Sequence[ArgumentSpec]) -> RawKernarg | None:
    """Where arguments go as far as the launch says it itself. Raises LaunchError if that does not fit the kernel."""
    is_shader = isinstance(kernel, Shader)
    if (spec.kernarg if is_shader else spec.user_data) is not None:
        given, wanted = ("kernarg", "`user_data`") if is_shader else ("user_data", "`kernarg`, or its arguments")
        what = "shader" if is_shader else "kernel"
        raise LaunchError(f"[launch] {given}", f"{kernel.name} is a {what}; give {wanted}")
    if is_shader:
        return RawKernarg.of(spec.user_data, arguments, "user_data")
    return RawKernarg.of(spec.kernarg, arguments)


__all__ = ["configured", "raw_arguments"]

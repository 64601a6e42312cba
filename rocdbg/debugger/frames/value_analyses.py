"""What machine code shows about a program's variables: analysed once, for every focus of a session."""

from __future__ import annotations

from rocdbg.analysis.prologue import PrologueRows
from rocdbg.debugger.frames.described_lanes import DescribedLanes
from rocdbg.debugger.frames.inferior import Inferior
from rocdbg.debugger.frames.recovered_values import Recovery
from rocdbg.debugger.program.program import Program
from rocdbg.debugger.program.source_files import SourceFiles
from rocdbg.debugger.program.source_text.constant_variables import ConstantVariables


class ValueAnalyses:
    """The analyses of an inferior's functions, which cache their results.

    Attributes:
        described: finds locations that hold only for other lanes.
        recovery: finds values that no location describes.
    """

    def __init__(self, inferior: Inferior, sources: SourceFiles) -> None:
        def rows(program: Program, wave_size: int) -> PrologueRows:
            return inferior.machine_code(program).rows(wave_size)

        constants = ConstantVariables(sources)
        self.described: DescribedLanes = DescribedLanes(rows, constants)
        self.recovery: Recovery = Recovery(rows, constants, self.described)

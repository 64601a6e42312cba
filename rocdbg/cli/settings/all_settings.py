"""The settings that `set` and `show` know from the start: `rocdbg.cli.commands.set_and_show` adds the rarer ones."""

from __future__ import annotations

from rocdbg.cli.settings.front_end_settings import FRONT_END_SETTINGS
from rocdbg.cli.settings.print_settings import PRINT_SETTINGS
from rocdbg.cli.settings.running_settings import RUNNING_SETTINGS
from rocdbg.cli.settings.source_settings import SOURCE_SETTINGS

SETTINGS = (*PRINT_SETTINGS, *SOURCE_SETTINGS, *RUNNING_SETTINGS, *FRONT_END_SETTINGS)

"""``python -m rocdbg``."""

from rocdbg.cli.main import main

raise SystemExit(main())

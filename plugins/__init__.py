"""The plug-ins that come with rocdbg, installed as the package `rocdbg_plugins`."""

"""Target ids: a processor with its xnack and sramecc settings (``gfx90a:sramecc+:xnack-``)."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from rocdbg.arch.targets import Target, target_by_name
from rocdbg.errors import Error


class Feature(Enum):
    """The setting of one target feature."""

    UNSUPPORTED = "unsupported"
    """The processor does not have the feature."""
    ANY = "any"
    """Not specified: code runs with either setting; a request accepts either."""
    OFF = "-"
    ON = "+"


class TargetIdError(Error):
    """A target id that does not parse or names a feature its processor does not have."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reason = reason
        super().__init__(f'bad target id "{text}": {reason}')


class TargetId(Struct, frozen=True):
    """A processor and its feature settings."""

    target: Target
    sramecc: Feature
    xnack: Feature

    @classmethod
    def of(cls, target: Target, *, sramecc: Feature = Feature.ANY, xnack: Feature = Feature.ANY) -> TargetId:
        """The id of ``target`` with some settings; settings of features that the target does not have are dropped."""
        return cls(
            target,
            sramecc if target.supports_sramecc else Feature.UNSUPPORTED,
            xnack if target.supports_xnack else Feature.UNSUPPORTED,
        )

    @classmethod
    def parse(cls, text: str) -> TargetId:
        """Read a target id.

        Accepts clang's form (``gfx90a:sramecc+:xnack-``, features in any order), the same after a triple
        (``amdgcn-amd-amdhsa--gfx90a:xnack+``), and the form of code objects V2 and V3 (``gfx900+xnack``: named features
        are on, the others off).  Raises `TargetIdError`, and `rocdbg.arch.targets.UnknownTargetError` for an unknown
        processor.
        """
        body = strip_triple(text)
        if ":" not in body and "+" in body:
            return cls._parse_legacy(text, body)
        name, *settings = body.split(":")
        if not name:
            raise TargetIdError(text, "the processor is missing")
        target = target_by_name(name)
        found: dict[str, Feature] = {}
        for setting in settings:
            feature, sign = setting[:-1], setting[-1:]
            if sign not in ("+", "-"):
                raise TargetIdError(text, f'feature "{setting}" must end in + or -')
            if feature in found:
                raise TargetIdError(text, f'feature "{feature}" is given twice')
            cls._check_feature(text, target, feature)
            found[feature] = Feature(sign)
        return cls.of(
            target, sramecc=found.get("sramecc", Feature.ANY), xnack=found.get("xnack", Feature.ANY)
        )

    @classmethod
    def _parse_legacy(cls, text: str, body: str) -> TargetId:
        name, *features = body.split("+")
        target = target_by_name(name)
        # Before code object V4, the feature was spelled sram-ecc.
        features = ["sramecc" if feature == "sram-ecc" else feature for feature in features]
        for feature in features:
            cls._check_feature(text, target, feature)
        return cls.of(
            target,
            sramecc=Feature.ON if "sramecc" in features else Feature.OFF,
            xnack=Feature.ON if "xnack" in features else Feature.OFF,
        )

    @staticmethod
    def _check_feature(text: str, target: Target, feature: str) -> None:
        supported = {"sramecc": target.supports_sramecc, "xnack": target.supports_xnack}
        if feature not in supported:
            raise TargetIdError(text, f'unknown feature "{feature}", expected sramecc or xnack')
        if not supported[feature]:
            raise TargetIdError(text, f"{target.name} has no feature {feature}")

    def runs_on(self, device: TargetId) -> bool:
        """Whether code built for this id may run on ``device``.

        The processor must be the same, or be covered by this generic target. Code that fixes a feature's setting needs
        a device with that setting; a setting that ``device`` leaves open (`Feature.ANY`) fits all code.
        """
        return (
            self.target.covers(device.target)
            and _fits(self.sramecc, device.sramecc)
            and _fits(self.xnack, device.xnack)
        )

    def closeness(self, device: TargetId) -> tuple[bool, int]:
        """How well code for this id fits ``device``, on which it must be able to run (`runs_on`); larger is better.

        Code for the processor itself is preferred to generic code; after that, code that fixes more features at the
        device's setting is preferred to code that leaves them open.
        """
        same = sum(
            mine is theirs
            for mine, theirs in ((self.sramecc, device.sramecc), (self.xnack, device.xnack))
            if mine is not Feature.UNSUPPORTED
        )
        return self.target.name == device.target.name, same

    def __str__(self) -> str:
        """The canonical text, as clang writes it."""
        parts = [self.target.name]
        for name, setting in (("sramecc", self.sramecc), ("xnack", self.xnack)):
            if setting in (Feature.ON, Feature.OFF):
                parts.append(name + setting.value)
        return ":".join(parts)


def strip_triple(text: str) -> str:
    """Drop a leading target triple: ``amdgcn-amd-amdhsa--gfx90a:xnack+`` gives ``gfx90a:xnack+``.

    A triple with an empty environment ends in two hyphens; one without environment
    (``amdgcn-amd-amdhsa-gfx906``, as old bundles have it) in one.
    """
    if not text.startswith(("amdgcn-", "r600-")):
        return text
    # Generic targets contain hyphens, so the four parts of the triple are counted from the left.
    parts = text.split("-", 4)
    if len(parts) == 5:
        return parts[4] if parts[3] == "" or not parts[3].startswith("gfx") else "-".join(parts[3:])
    return parts[3] if len(parts) == 4 else ""


def _fits(code: Feature, device: Feature) -> bool:
    return code is device or Feature.ANY in (code, device) or Feature.UNSUPPORTED in (code, device)

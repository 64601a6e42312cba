"""Target ids: text and matching rules."""

from __future__ import annotations

import pytest

from rocdbg.arch import TargetId, TargetIdError, UnknownTargetError


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("gfx90a", "gfx90a"),
        ("gfx90a:xnack+", "gfx90a:xnack+"),
        ("gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"),
        ("tahiti", "gfx600"),
        ("gfx11-generic", "gfx11-generic"),
        ("gfx9-4-generic:sramecc-:xnack+", "gfx9-4-generic:sramecc-:xnack+"),
        ("amdgcn-amd-amdhsa--gfx90a:xnack+", "gfx90a:xnack+"),
        ("amdgcn-amd-amdhsa-unknown-gfx90a:xnack+", "gfx90a:xnack+"),
        ("amdgcn-amd-amdhsa--gfx9-4-generic", "gfx9-4-generic"),
        ("amdgcn-amd-amdhsa-gfx906", "gfx906"),
        ("amdgcn-amd-amdhsa-gfx9-4-generic", "gfx9-4-generic"),
        # code objects V2 and V3: named is on, not named is off
        ("gfx906+xnack", "gfx906:sramecc-:xnack+"),
        ("amdgcn-amd-amdhsa--gfx908+sram-ecc+xnack", "gfx908:sramecc+:xnack+"),
        ("gfx801+xnack", "gfx801:xnack+"),
    ],
)
def test_parse(text: str, canonical: str) -> None:
    assert str(TargetId.parse(text)) == canonical
    assert TargetId.parse(canonical) == TargetId.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'bad target id "": the processor is missing'),
        ("gfx90a:", 'bad target id "gfx90a:": feature "" must end in + or -'),
        ("gfx90a:xnack", 'bad target id "gfx90a:xnack": feature "xnack" must end in + or -'),
        ("gfx90a:xnack+:xnack-", 'bad target id "gfx90a:xnack+:xnack-": feature "xnack" is given twice'),
        ("gfx90a:foo+", 'bad target id "gfx90a:foo+": unknown feature "foo", expected sramecc or xnack'),
        ("gfx1030:xnack+", 'bad target id "gfx1030:xnack+": gfx1030 has no feature xnack'),
        ("gfx900:sramecc-", 'bad target id "gfx900:sramecc-": gfx900 has no feature sramecc'),
        ("gfx900+sramecc", 'bad target id "gfx900+sramecc": gfx900 has no feature sramecc'),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(TargetIdError) as caught:
        TargetId.parse(text)
    assert str(caught.value) == message


def test_unknown_processor_suggests() -> None:
    with pytest.raises(UnknownTargetError, match=r'unknown AMDGPU target "gfx9oa" \(did you mean .*gfx90a'):
        TargetId.parse("gfx9oa")


@pytest.mark.parametrize(
    ("code", "device", "runs"),
    [
        ("gfx90a", "gfx90a", True),
        ("gfx90a", "gfx908", False),
        ("gfx90a", "gfx90a:sramecc+:xnack-", True),
        ("gfx90a:xnack+", "gfx90a:xnack+", True),
        ("gfx90a:xnack+", "gfx90a:xnack-", False),
        ("gfx90a:xnack+", "gfx90a", True),
        ("gfx90a:sramecc-:xnack+", "gfx90a:sramecc+:xnack+", False),
        ("gfx11-generic", "gfx1103", True),
        ("gfx11-generic", "gfx1200", False),
        ("gfx1103", "gfx11-generic", False),
        ("gfx9-4-generic:xnack-", "gfx942:sramecc+:xnack-", True),
        ("gfx9-4-generic:xnack-", "gfx942:xnack+", False),
        ("gfx9-generic", "gfx906:sramecc+:xnack-", True),
        ("gfx9-generic", "gfx908", False),
        ("gfx10-1-generic", "gfx1013", True),
        ("gfx10-3-generic", "gfx1013", False),
    ],
)
def test_runs_on(code: str, device: str, runs: bool) -> None:
    assert TargetId.parse(code).runs_on(TargetId.parse(device)) is runs


@pytest.mark.parametrize(
    ("device", "better", "worse"),
    [
        ("gfx1100", "gfx1100", "gfx11-generic"),
        ("gfx90a:xnack+", "gfx90a:xnack+", "gfx90a"),
        ("gfx90a:sramecc+:xnack+", "gfx90a:sramecc+:xnack+", "gfx90a:xnack+"),
        ("gfx90a", "gfx90a", "gfx90a:xnack+"),
        ("gfx942:xnack-", "gfx942", "gfx9-4-generic:xnack-"),
    ],
)
def test_closeness(device: str, better: str, worse: str) -> None:
    wanted = TargetId.parse(device)
    assert TargetId.parse(better).closeness(wanted) > TargetId.parse(worse).closeness(wanted)

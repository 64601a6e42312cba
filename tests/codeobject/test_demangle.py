"""C++ names of symbols."""

from __future__ import annotations

import pytest

from rocdbg.codeobject.demangle import base_name, demangle, function_name, matches_symbol


@pytest.mark.parametrize(
    ("symbol", "declaration", "function", "base"),
    [
        ("saxpy", "saxpy", "saxpy", "saxpy"),
        ("_Z5saxpyfPKfPfi", "saxpy(float, float const*, float*, int)", "saxpy", "saxpy"),
        (
            "_Z5kfuncIfLi0EEvPT_S1_S0_l",
            "void kfunc<float, 0>(float*, float*, float, long)",
            "kfunc<float, 0>",
            "kfunc",
        ),
        (
            "_ZN2ns6reduceIiLi64EEEvPT_",
            "void ns::reduce<int, 64>(int*)",
            "ns::reduce<int, 64>",
            "ns::reduce",
        ),
        (
            "_ZN3jax3hip12_GLOBAL__N_15kerneEPKj",
            "jax::hip::(anonymous namespace)::kerne(unsigned int const*)",
            "jax::hip::(anonymous namespace)::kerne",
            "jax::hip::(anonymous namespace)::kerne",
        ),
        (
            "_Z4pickISt4pairIifEENSt9conditionIXeqstT_Li8EEiE4typeES1_",
            "std::condition<(sizeof (std::pair<int, float>))==(8), int>::type "
            "pick<std::pair<int, float> >(std::pair<int, float>)",
            "pick<std::pair<int, float> >",
            "pick",
        ),
        ("_ZplRK3VecS1_", "operator+(Vec const&, Vec const&)", "operator+", "operator+"),
        ("_ZltRK3VecS1_", "operator<(Vec const&, Vec const&)", "operator<", "operator<"),
        ("_Z5tableI1AE", "table<A>", "table<A>", "table"),
        ("_Zbroken", "_Zbroken", "_Zbroken", "_Zbroken"),
        ("_Z", "_Z", "_Z", "_Z"),
    ],
)
def test_names(symbol: str, declaration: str, function: str, base: str) -> None:
    assert (demangle(symbol), function_name(symbol), base_name(symbol)) == (declaration, function, base)


def test_name_that_would_fill_the_memory() -> None:
    """Each level contains the previous one twice: 2 ** 60 times ``int``."""
    arguments = "1aIiiE"
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for level in range(60):
        last = f"S{digits[level // 36] if level >= 36 else ''}{digits[level % 36]}_"
        arguments += f"S_I{last}{last}E"
    assert demangle("_Z1f" + arguments) == "_Z1f" + arguments


@pytest.mark.parametrize(
    ("name", "symbol", "want"),
    [
        ("reduce", "_ZN2ns6reduceIiLi64EEEvPT_", True),
        ("reduce<int,64>", "_ZN2ns6reduceIiLi64EEEvPT_", True),
        ("ns::reduce<int, 64>(int*)", "_ZN2ns6reduceIiLi64EEEvPT_", True),
        ("educe", "_ZN2ns6reduceIiLi64EEEvPT_", False),
        ("other::reduce", "_ZN2ns6reduceIiLi64EEEvPT_", False),
        ("kerne", "_ZN3jax3hip12_GLOBAL__N_15kerneEPKj", True),
        ("hip::(anonymous namespace)::kerne", "_ZN3jax3hip12_GLOBAL__N_15kerneEPKj", True),
        ("jax", "_ZN3jax3hip12_GLOBAL__N_15kerneEPKj", False),
        ("saxpy", "saxpy", True),
    ],
)
def test_matches_symbol(name: str, symbol: str, want: bool) -> None:
    assert matches_symbol(name, symbol) is want

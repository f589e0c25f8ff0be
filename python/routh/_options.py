"""Options: their kinds, where they belong, and what the library says of them."""

import contextlib
import difflib
import math
import numbers
import operator
import re
import sys
import time
import warnings

import numpy as np

from . import _core

#: Laws of impact by name, with a few words about each.
LAWS = {name: about for name, about, *_ in _core.laws()}
#: Methods of simulation by name, with a few words about each.
METHODS = dict(_core.methods())

_LAW_OPTIONS = {name: {o.replace("-", "_") for o in options} | {"restitution"} for name, _, options, _ in _core.laws()}
_LAW_OPTIONS["exact"] |= {"max_polyhedra", "max_seconds"}
_LAW_OPTIONS["witnesses"] |= {"max_seconds"}
for _law in ("all", "simultaneous"):
    _LAW_OPTIONS[_law] |= {"derivative"}
_LAW_OPTIONS["set"] |= {"max_polyhedra", "max_seconds", "figure"}

#: What coefficients of restitution are ratios of.
MEANINGS = ["newton", "poisson", "stronge"]

_TIME = {"end", "every"}
_OVER_S = {"domain"}
METHOD_OPTIONS = {
    "time-stepping": _TIME | _OVER_S | {"h", "alpha", "gamma", "jacobians", "detection", "stabilise", "law",
                              "seed", "project", "restitution", "derivative"},
    "hybrid": _TIME | _OVER_S | {"law", "seed", "restitution", "pseudo_impulse", "friction", "rtol", "strict", "project", "derivative"},
    "event-selected": _TIME | {"eps", "exact", "contact_damping", "stiffness", "derivative"},
    "compliant": _TIME | _OVER_S | {"seed", "stiffness", "ratio", "damping_ratio", "impact_only", "project"},
}


def one_of(name, value, known):
    if not isinstance(value, str) or value not in known:
        near = difflib.get_close_matches(value, known, 1) if isinstance(value, str) else []
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"{name} {value!r}: {meant}known are {', '.join(known)}")
    return value


def count(name, value, least=0, most=2**63 - 1):
    """A whole number; floats that are whole will do, as 2e4 is one."""
    try:
        if isinstance(value, bool):
            raise TypeError
        n = operator.index(int(value)) if isinstance(value, float) and value == int(value) else operator.index(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} {value!r}: must be a whole number, such as 4096 or 2**20") from None
    if n < least:
        raise ValueError(f"{name} {n}: must be at least {least}")
    if n > most:
        raise ValueError(f"{name} {n}: must be at most {most}")
    return n


def threads(value):
    if count("threads", value) > 1024:
        raise ValueError(f"threads {value}: at most 1024 are possible; 0 takes all cores")
    return int(value)


def number(name, value, low=-math.inf, high=math.inf, above=None):
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} {value!r}: must be a number")
    try:
        x = float(value)
    except OverflowError:  # a whole number that no double holds
        x = math.inf
    if not math.isfinite(x):
        raise ValueError(f"{name} {x}: must be finite")
    if above is not None and not x > above:
        raise ValueError(f"{name} {x:g}: must be above {above:g}")
    if not low <= x <= high:
        raise ValueError(f"{name} {x:g}: must be " +
                         (f"from {low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"))
    return x


def flag(name, value):
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} {value!r}: must be True or False")
    return bool(value)


def text(name, value):
    """What the library can read: UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} {value!r}: has letters that UTF-8 cannot write") from None
    return value


def words(name, value):
    try:
        names = [value] if isinstance(value, str) else list(value)
    except TypeError:
        names = [value]
    if not all(isinstance(n, str) for n in names):
        raise ValueError(f"{name}: must be names")
    return [text(name, n) for n in names]


def word(name, value):
    if not isinstance(value, str):
        raise ValueError(f"{name} {value!r}: must be a name")
    return text(name, value)


def contact_names(value):
    """Of a caller's contacts; none: the library's own."""
    if value is None:
        return []
    try:
        return words("names", [str(n) for n in ([value] if isinstance(value, str) else value)])
    except TypeError:
        raise ValueError("names: must be one for each contact") from None


def _positive(name, value):
    return number(name, value, above=0)


_KINDS = {
    "samples": lambda n, x: count(n, x, 1), "seed": count, "keep": count,
    "threads": lambda n, x: threads(x), "limit": lambda n, x: count(n, x, 1, 10**6),
    "max_polyhedra": lambda n, x: min(count(n, x, 1), 2**30), "max_seconds": _positive,
    "step": _positive, "epsilon": _positive, "delta": lambda n, x: number(n, x, 0, 1, above=0), "final_step": lambda n, x: number(n, x, 0),
    "draws": lambda n, x: one_of(n, x, ["uniform", "corners", "extremes"]),
    "device": lambda n, x: one_of(n, x, ["cpu", "cuda"]),
    "single": lambda n, x: one_of(n, x, ["routh", "algebraic"]),
    "order": words, "contact": word, "coverage": flag, "figure": flag,
    "maximize": words, "minimize": words,
    "h": _positive, "end": _positive, "every": _positive, "rtol": _positive, "eps": _positive,
    "stiffness": _positive, "ratio": _positive, "damping_ratio": lambda n, x: number(n, x, 0),
    "contact_damping": lambda n, x: number(n, x, 0), "pseudo_impulse": lambda n, x: number(n, x, 0),
    "alpha": lambda n, x: number(n, x, high=1, above=0), "gamma": lambda n, x: number(n, x, 0, 1),
    "jacobians": lambda n, x: one_of(n, x, ["start", "midpoint"]),
    "friction": lambda n, x: one_of(n, x, ["auto", "coulomb", "p4"]),
    "detection": flag, "stabilise": flag, "strict": flag, "exact": flag, "impact_only": flag,
    "restitution": lambda n, x: one_of(n, x, MEANINGS),
    "domain": lambda n, x: one_of(n, x, ["t", "s"]) == "s",
    "project": flag, "derivative": flag, "sensitivity": flag, "exponent": lambda n, x: number(n, x, 1, 10),
    "law": lambda n, x: one_of(n, x, _core.through_time() + ["plastic"]),
}


def _positives(name, value):
    try:
        values = list(value)
    except TypeError:
        values = [value]
    return [_positive(name, x) for x in values]


#: Of laws, where methods of simulation mean something else.
_LAW_KINDS = {"stiffness": _positives}


def checked(given, allowed, where, kinds=None):
    """Options that were given, each of its kind; those that belong elsewhere are refused."""
    kinds = {**_KINDS, **(kinds or {})}
    options = {}
    for name, value in given.items():
        if name not in allowed:
            known = name in kinds or any(name in o for o in _LAW_OPTIONS.values())
            raise (ValueError if known else TypeError)(
                f"{name} does not belong to {where}; known are {', '.join(sorted(allowed)) or 'none'}")
        if value is not None:
            options[name] = kinds[name](name, value) if name in kinds else value
    return options


def law_options(law, given):
    one_of("law", law, LAWS)
    return checked(given, _LAW_OPTIONS[law], f"law {law!r}", _LAW_KINDS)


_COMMANDS = {"list": "routh.scenario_names", "show": "routh.scenario_text", "simulate": "routh.simulate", "check": "check"}


def _here(command):
    name, _, value = (command[2] or "").rpartition(" ")
    return f"{_COMMANDS[command[1]]}({name.lstrip('-') + '=' if name else ''}{repr(value) if value else ''})"


@contextlib.contextmanager
def library_words():
    """Messages of the library name options and commands as a shell does: --final-step is final_step here."""
    try:
        yield
    except ValueError as e:
        text = str(e)
        said = re.sub(r"'routh (list|show|simulate|check)(?: ([^']*))?'", _here, text)
        said = re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda m: m[1].replace("-", "_"), said)
        if said == text:
            raise
        raise ValueError(said) from None


class Progress:
    """How far long work is: on a terminal or in a notebook, after a second of silence."""

    def __init__(self, what, shown=None):
        if not (shown is None or isinstance(shown, bool) or callable(shown)):
            raise ValueError(f"progress {shown!r}: must be True, False or a function of the part that is done")
        self.what, self.began, self.wrote = what, time.monotonic(), 0
        self.custom = shown if callable(shown) else None
        self.on = shown if isinstance(shown, bool) else self._seen()

    @staticmethod
    def _seen():
        return (hasattr(sys.stderr, "isatty") and sys.stderr.isatty()) or "ipykernel" in sys.modules

    def callback(self):
        return self.custom or (self if self.on else None)

    def __call__(self, part):
        seconds = time.monotonic() - self.began
        if seconds < 1:
            return
        left = f", {seconds / part * (1 - part):.0f} s left" if part > 0 else ""
        line = f"{self.what}: {100 * part:.0f} %{left}"
        sys.stderr.write("\r" + line.ljust(self.wrote))
        sys.stderr.flush()
        self.wrote = len(line)

    def end(self, interrupted, level=4):
        if self.wrote:
            sys.stderr.write("\r" + " " * self.wrote + "\r")
        if interrupted:
            warnings.warn("interrupted: this is what there was, it is incomplete", RuntimeWarning, stacklevel=level)


def run(what, progress, work):
    """Calls `work(callback)` and tells how it went."""
    tell = Progress(what, progress)
    with library_words():
        made = work(tell.callback())
    tell.end(made.interrupted)
    return made

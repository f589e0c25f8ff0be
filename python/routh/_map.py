"""Maps: outcomes of an impact, or of many motions, over parameters and states."""

import numpy as np

from . import _core
from ._motion import _moving
from ._options import MEANINGS, checked, count, number, one_of, run, word, words
from ._options import threads as number_of_threads
from ._saved import Saved
from ._scenario import _load_again

_DRAWS = {"uniform", "log", "normal"}


class MapResult(Saved):
    """What was measured in every cell of a map, as arrays.

    >>> m = map("compass-gait", vary={"friction": (1, 5, 3), "rate": (0.1, 1, 2)}, samples=64)
    >>> m.shape, m["outcomes"].shape, m.status[0]
    ((3, 2), (3, 2), 'decided')
    """

    def __init__(self, core, scenario):
        self._core, self.scenario = core, scenario
        self._parameters, self._measures = core.parameters, core.measures

    law = property(lambda self: self._core.law, doc="The law that was asked.")
    complete = property(lambda self: self._core.complete, doc="Were all cells done?")
    status = property(lambda self: self._core.status,
                      doc="Of each cell: decided, undecided, no impact, refused or not done.")
    why = property(lambda self: self._core.why, doc="Of each cell that is not decided.")
    shape = property(lambda self: tuple(self._core.shape),
                     doc="Cells along each range, then the points drawn at each place.")

    def __getitem__(self, name):
        """A parameter or a measure, in the shape of the map; NaN where it has no value. `about` has the units.

        >>> m = map("rocking-block", {"friction": (0.1, 1, 4)}, samples=32)
        >>> m["friction"].tolist(), bool((m["spread"] > 0).all())
        ([0.1, 0.4, 0.7, 1.0], True)
        """
        for columns in (self._measures, self._parameters):
            if name in columns:
                return columns[name].reshape(self.shape)
        raise KeyError(f"{name}: known are {', '.join([*self._parameters, *self._measures])}")

    @property
    def about(self):
        """What the measures are, with their units, by name.

        >>> map("rocking-block", {"friction": (0.1, 1, 2)}, samples=8).about["spread"]
        'widest range of a contact velocity [m/s]'
        """
        return dict(self._core.about)

    parameters = property(lambda self: dict(self._parameters), doc="One value a cell, by name.")
    measures = property(lambda self: dict(self._measures), doc="One value a cell, by name.")

    def __len__(self):
        return self._core.size

    def __str__(self):
        text = f"{self.scenario.name}: {len(self)} cells{'' if self.complete else ', stopped early'}"
        for name, values in self._measures.items():
            known = values[np.isfinite(values)]
            text += f"\n  {name}: " + (f"{known.min():.4g} to {known.max():.4g}" if len(known) else "nowhere a value")
            text += f" ({self.about[name]})"
        return text

    def __repr__(self):
        return f"<routh.MapResult of {self.scenario.name!r}: {' x '.join(str(n) for n in self.shape)} cells by {self.law!r}>"


def _ranges(vary):
    for name, range_ in _items("vary", vary):
        try:
            first, last, many = range_
        except (TypeError, ValueError):
            raise ValueError(f"vary {name}: must be (from, to, count), such as (0.2, 5, 64)") from None
        yield f"{word('vary', name)}={number(name, first)!r}:{number(name, last)!r}:{count(name, many)}"


def _drawn(draw):
    for name, how in _items("draw", draw):
        try:
            kind, a, b = how
        except (TypeError, ValueError):
            raise ValueError(f'draw {name}: must be such as ("uniform", 0.4, 1)') from None
        one_of(f"draw {name}", kind, _DRAWS)
        yield f"{word('draw', name)}={kind}({number(name, a)!r},{number(name, b)!r})"


def _items(name, given):
    try:
        return list(dict(given or {}).items())
    except (TypeError, ValueError):
        raise ValueError(f"{name}: must be a dictionary by the names of parameters") from None


_KINDS = {
    "points": lambda n, x: count(n, x, 1), "runs": lambda n, x: count(n, x, 0, 10**7), "measure": words,
    "restitution": lambda n, x: one_of(n, x, MEANINGS),
    "method": lambda n, x: one_of(n, x, ["hybrid", "time-stepping"]),
}
_IMPACTS = {"samples", "step", "limit", "draws", "device"}
_RUNS = {"method", "end"}


def map(what, vary=None, draw=None, measure=None, *, law="set", samples=None, seed=0, points=None, runs=None,
        threads=0, progress=None, **options):
    """The outcomes of an impact, or of many motions, over parameters and states: a `MapResult`.

    what -- a scenario or its name
    vary -- parameters, coordinates or velocities by name, each (from, to, count):
        {"friction": (0.2, 5, 64), "rate": (0.1, 1, 64)}; of models also "qpos[2]", "torso.pitch",
        "drop" and "keyframe"
    draw -- the same drawn anew for every cell: {"friction": ("uniform", 0.4, 1)}; "log", "normal"
    points -- cells at each place of `vary`, for `draw`
    measure -- what to measure (default: "outcomes", "spread"): also "unique", "worst.energy",
        "spread.normal.A", "probability.A.sticks", "steps", "impulse", ..: `routh map --help`
    law -- "set", "all", "simultaneous", "sequential", "binary" or "lzb"
    samples, step [N s], limit, draws -- of the law set
    device -- what samples: "cpu" or "cuda", a GPU
    runs, method, end [s] -- a map of motions: so many of each cell
    restitution -- what coefficients of restitution are ratios of

    >>> map("rocking-block", {"friction": (0, 1, 5)}, measure="worst.energy", samples=64)["worst.energy"].shape
    (5,)
    """
    scenario = _moving(what, None, None)
    allowed = {"restitution"} | (_RUNS if runs else _IMPACTS - {"samples"})
    given = checked({"points": points, "runs": runs, "measure": measure, **options},
                    allowed | {"points", "runs", "measure"}, "a map of motions" if runs else "a map of impacts", _KINDS)
    if runs and samples is not None:
        raise ValueError("samples: belongs to maps of impacts; each of the runs draws its own")
    given["samples"] = 1024 if samples is None else count("samples", samples, 1, 2**40)
    given["law"] = one_of("law", law, _core.through_time() if runs else _core.map_laws())
    given["seed"] = count("seed", seed)
    given["measure"] = given.get("measure") or (["rests", "words"] if runs else ["outcomes", "spread"])
    given["vary"], given["draw"] = list(_ranges(vary)), list(_drawn(draw))
    from_ = {}
    if scenario._made[0] is _load_again:
        told = scenario._made[2]
        from_ = {"name": scenario._made[1], "parameters": told["set"],
                 "start": {key: value for key, value in told.items()
                           if key in ("state", "qpos", "qvel", "ctrl", "drop", "as_is", "floating", "floor") and value is not None}}
        if told["touching"] is not None:
            from_["touching"] = float(told["touching"])
    made = run("map", progress, lambda tell: _core.map(scenario._core, from_, given, number_of_threads(threads), tell))
    return MapResult(made, scenario)

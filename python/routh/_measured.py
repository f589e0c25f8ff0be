"""Measured impacts held against every law and the set."""

import os
from typing import Dict, NamedTuple

from . import _core, _html
from ._arrays import finite, vector
from ._options import count, number, one_of, run, word
from ._saved import Written
from ._scenario import Scenario, load


class MeasuredRow(NamedTuple):
    """A measured impact that was held out, and how far the laws are from it."""
    line: str                  #: of the table
    contacts: int
    noise: float               #: what errors of the measurement make of a distance [m/s]
    unexplained: float         #: what no impulses at the contacts can make [m/s]
    nearest: Dict[str, float]  #: from the law's nearest outcome [m/s]


class MeasuredResult(Written):
    """What the laws make of measured impacts: print it, draw it, or read its attributes."""

    def __init__(self, core):
        self._core = core
        self._all = self.to_dict()

    fits = property(lambda self: self._all["fits"],
                    doc="Friction and restitution that explain impacts at one contact best, for each meaning of e.")
    laws = property(lambda self: self._all["laws"],
                    doc="Medians of each law over the impacts with so many contacts, as dictionaries.")
    peers = property(lambda self: self._all["peers"], doc="Other simulators with their parameters, fitted alike.")
    body = property(lambda self: self._all.get("body"), doc="Shape, centre of mass and inertia, fitted to one half.")
    energy_grows = property(lambda self: self._all["energy_grows"],
                            doc="Lines that were left out because energy grows.")
    nothing_approaches = property(lambda self: self._all["nothing_approaches"],
                                  doc="Lines that were left out because nothing approaches.")
    incomplete = property(lambda self: self._all["incomplete"], doc="More was to be done.")
    rows = property(lambda self: [MeasuredRow(*r) for r in self._core.rows], doc="A list of `MeasuredRow`.")

    def to_csv(self):
        """A table as text, distances in m/s.

        One row an impact that was held out::

            print(routh.measured("impacts.csv").to_csv())
        """
        return self._core.csv()

    def draw(self, folder, name="measured"):
        """The command's figures, PNG and SVG, by gnuplot.

        Their paths are returned::

            routh.measured("impacts.csv").draw("figures")
        """
        os.makedirs(folder, exist_ok=True)
        return self._core.draw(name, os.fspath(folder))

    def __str__(self):
        return self._core.text.rstrip()

    def __repr__(self):
        return f"<routh.MeasuredResult: {self._all['impacts']} impacts, {len(self._core.rows)} held against the laws>"

    def _repr_html_(self):
        rows = [(s["contacts"], s["impacts"], s["law"], *(f"{s[k]:.4f}" for k in ("noise", "first", "nearest")))
                for s in self.laws if s["nearest"] is not None and s["first"] is not None]
        return (_html.table(["contacts", "impacts", "law", "noise", "first", "nearest [m/s]"], rows)
                + _html.svg(self._core.draw))


def measured(file, scenario=None, *, centre=None, touching=2e-3, samples=300, seed=1, most=100, compare=None,
             progress=None):
    """Measured impacts, a table of CSV, held against every law: a `MeasuredResult`.

    file -- docs/measured.md has its columns
    scenario -- mechanism or model whose coordinates are columns of the table, or its name
    centre -- of a box: the centre of mass that x, y, z are of, from the box's centre [m]
    touching -- contacts at most this much higher than the lowest take part [m]
    samples, seed -- of the set at each impact
    most -- impacts of each number of contacts that are reported
    compare -- "mujoco": also this simulator, its parameters fitted as those of the laws are
    progress -- True or False to show it, or a function of the part that is done

    Balls that come back with half of their speed:

    >>> import os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "balls.csv")
    >>> with open(file, "w") as f:
    ...     print("vx_minus,vy_minus,w_minus,vx_plus,vy_plus,w_plus,jn_x,jn_y,jn_w,jt_x,jt_y,jt_w", file=f)
    ...     for speed in range(10, 34):
    ...         print(f"0,-{speed},0,0,{speed / 2},0,0,1,0,1,0,1", file=f)
    >>> round(measured(file, samples=20).fits[0]["e"], 2)
    0.5
    """
    options = {"touching": number("touching", touching, above=0), "samples": count("samples", samples, 1, 10**6),
               "seed": count("seed", seed), "most": count("most", most, 1, 10**6)}
    if centre is not None:
        if scenario is not None:
            raise ValueError("centre: belongs to boxes; a scenario knows where its mass is")
        options["centre"] = list(finite(vector(centre, "centre"), "centre"))
        if len(options["centre"]) != 3:
            raise ValueError("centre: must be three numbers")
    if compare is not None:
        options["compare"] = one_of("compare", compare, ["mujoco"])
    if scenario is not None:
        scenario = scenario if isinstance(scenario, Scenario) else load(scenario)
        if scenario.kind not in ("mechanism", "model", "system"):
            raise ValueError(f"scenario {scenario.name}: must be a mechanism or a model")
    file = word("file", os.fspath(file))
    made = run("measured", progress,
               lambda tell: _core.measured(file, None if scenario is None else scenario._core, options, tell))
    return MeasuredResult(made)

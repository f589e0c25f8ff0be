"""Many motions from one start: ensembles that draw, trees that follow every way."""

from typing import NamedTuple

import numpy as np

from . import _core, _html
from ._motion import State, _moving
from ._options import METHOD_OPTIONS, checked, count, one_of, run
from ._options import threads as number_of_threads
from ._saved import Saved, Written


class Group(NamedTuple):
    """Runs that went the same way."""
    name: str
    count: int
    first: int  #: index of a run that did


class Run(NamedTuple):
    """How one run of an ensemble went; seed and index replay it."""
    index: int
    status: str
    time: float           #: at its end [s]
    q: np.ndarray         #: at its end
    v: np.ndarray
    word: str             #: contact modes it went through; by time-stepping, the contacts of its impacts
    final_mode: str
    message: str          #: why it stopped before the end
    impacts: int
    energy_start: float   #: [J]
    energy_end: float     #: [J]


class EnsembleResult(Saved):
    """Many motions from one start.

    >>> e = ensemble("compass-gait", runs=16, end=0.3)
    >>> sum(w.count for w in e.words)
    16
    """

    def __init__(self, core, scenario):
        self._core, self.scenario = core, scenario

    method = property(lambda self: self._core.method, doc="By which the runs moved.")
    words = property(lambda self: [Group(*g) for g in self._core.words],
                     doc="Runs by the contact modes they went through, largest group first.")
    modes = property(lambda self: [Group(*g) for g in self._core.modes], doc="Runs by their final mode.")
    reasons = property(lambda self: [Group(*g) for g in self._core.reasons], doc="Why runs stopped before the end.")
    runs = property(lambda self: [Run(**r) for r in self._core.runs], doc="Every run.")
    stopped = property(lambda self: self._core.stopped, doc="Before all runs were done?")
    early = property(lambda self: self._core.early, doc="Runs that stopped before their end.")
    final_q = property(lambda self: self._core.final_q, doc="Coordinates at the ends, one row a run.")
    kept = property(lambda self: self._core.kept, doc="(time, q, v) of the first `keep` runs.")

    def __len__(self):
        return self._core.count

    def plot(self, coordinate=None, axes=None):
        """The fan of kept motions [s] and where all runs end, with Matplotlib; returns the figure.

        coordinate -- its name or number (default: the one that differs most)

        >>> len(ensemble("rocking-block", runs=4, end=0.1).plot("block.y").axes) > 0
        True
        """
        from ._plot import plot_ensemble
        return plot_ensemble(self, coordinate, axes)

    def __str__(self):
        words = self.words
        text = f"{self.scenario.name}: {len(self)} runs{', stopped early' if self.stopped else ''}"
        for w in words[:12]:
            text += f"\n  {w.count:>6}  {w.name[:90]}"
        return text + (f"\n  .. {len(words) - 12} more" if len(words) > 12 else "")

    def __repr__(self):
        return f"<routh.EnsembleResult of {self.scenario.name!r}: {len(self)} runs, {len(self.words)} words>"

    def _repr_html_(self):
        from html import escape
        return (f"<p><b>{escape(self.scenario.name)}</b>: {len(self)} runs by {self.method}</p>"
                + _html.table(["runs", "contact word"], [(w.count, w.name) for w in self.words[:12]])
                + _html.svg(self._core.draw))


def _together(scenario, method, options):
    """Options of many motions, each of its kind."""
    name = one_of("method", method or _core.ensemble_method(scenario._core), ["hybrid", "time-stepping"])
    given = checked(options, METHOD_OPTIONS[name] - {"law", "seed", "project", "domain"}, f"an ensemble by {name!r}")
    return {**given, "method": name}


def ensemble(what, runs=1024, seed=0, *, law="set", method=None, q=None, v=None, threads=0, keep=200, progress=None,
             **options):
    """Many motions from one start, each impact drawn from its set of outcomes: an `EnsembleResult`.

    runs, seed -- the same seed gives the same runs, on any number of threads
    law -- how impacts are resolved
    method -- "hybrid" or "time-stepping" (default: hybrid; of models, and with more than a dozen contacts, time-stepping)
    keep -- motions to keep for `kept` and figures
    end, every [s] and the options of the method: see `routh.simulate`

    >>> ensemble("rocking-block", runs=8, end=0.2).words[0].count > 0
    True
    """
    scenario = _moving(what, q, v)
    one_of("law", law, _core.through_time())
    given = _together(scenario, method, options)
    runs = count("runs", runs, 1)
    if runs > 10**7:
        raise ValueError(f"runs {runs}: at most 10**7 are possible")
    made = run("ensemble", progress,
               lambda tell: _core.ensemble(scenario._core, given, runs, count("seed", seed), law,
                                           number_of_threads(threads), min(count("keep", keep), runs), tell))
    return EnsembleResult(made, scenario)


class Branch(NamedTuple):
    """One extreme outcome of an impact, followed to the next."""
    parent: int     #: in `BranchTree.branches`; -1: the start
    depth: int      #: impacts behind it
    choice: int     #: which outcome of the impact
    ways: int       #: paths that lead here, merged
    outcomes: int   #: extreme outcomes of the impact that follows; 0: there is none
    state: State    #: right after the impact
    final: State    #: without further impacts, or taking the first outcome of each
    word: str       #: from the start to there


class BranchTree(Written):
    """Every way on from the first impacts of a motion.

    >>> tree = branch("compass-gait", 1, end=0.3)
    >>> len(tree), tree.incomplete
    (4, False)
    """

    def __init__(self, core, scenario):
        self._core, self.scenario = core, scenario
        self._all = None

    incomplete = property(lambda self: not self._core.complete, doc="Stopped, or there were more than 10000 branches.")

    @property
    def branches(self):
        """Parents before their children, the first is the start: a list of `Branch`.

        >>> [b.parent for b in branch("compass-gait", 1, end=0.3).branches]
        [-1, 0, 0, 0]
        """
        if self._all is None:
            self._all = [Branch(**{**b, "state": State(*b["state"]), "final": State(*b["final"])})
                         for b in self._core.branches]
        return self._all

    def __len__(self):
        return len(self.branches)

    def __str__(self):
        text = f"{self.scenario.name}: {len(self)} branches{', incomplete' if self.incomplete else ''}"
        for b in self.branches[:30]:
            text += f"\n  {b.state.time:<10.6f} {b.outcomes:>3} outcomes  {'  ' * b.depth}{b.word[:90]}"
        return text + (f"\n  .. {len(self) - 30} more" if len(self) > 30 else "")

    def __repr__(self):
        return f"<routh.BranchTree of {self.scenario.name!r}: {len(self)} branches>"

    def _repr_html_(self):
        rows = [(f"{b.state.time:.6f} s", b.outcomes, b.ways, "\u2003" * b.depth + b.word) for b in self.branches[:30]]
        return _html.table(["after the impact at", "outcomes of the next", "ways", "word"], rows)


def branch(what, depth, *, method=None, q=None, v=None, progress=None, **options):
    """Every extreme outcome, simultaneous and sequential, of the first impacts as a tree: a `BranchTree`.

    depth -- impacts that are followed
    method, end and the options of the method: see `routh.ensemble`

    >>> tree = branch("compass-gait", 1, end=0.3)
    >>> tree.branches[0].outcomes, len(tree)
    (3, 4)
    """
    scenario = _moving(what, q, v)
    given = _together(scenario, method, options)
    depth = count("depth", depth, 1, 30)
    return BranchTree(run("branches", progress, lambda tell: _core.branch(scenario._core, given, depth, tell)), scenario)

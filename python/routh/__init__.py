"""Rigid bodies that touch at several places at once: all outcomes of their impacts. ::

    import routh
    r = routh.impact(M, Jn, Jt, mu, v)        # every outcome, from your simulator's matrices
    m = routh.load("quadruped")               # a built-in scenario, a YAML, MJCF or URDF file
    m.check()                                 # is its impact well defined?
    t = routh.simulate(m, end=1)              # through time

Units are SI: metres, radians, kilograms, seconds, newtons. Velocities of contacts are normals first
(negative: approaching), then tangentials. Names are those of the command `routh` and of the C++
library; a mistake is a ValueError that says what to change.
"""

from . import lcp
from ._core import has_cuda, has_exact, has_models
from ._core import version as __version__
from ._batch import BatchResult, impact_batch
from ._ensemble import Branch, BranchTree, EnsembleResult, Group, Run, branch, ensemble
from ._impact import (CheckResult, Containment, ExactSet, Extreme, ImpactResult, Moves, Outcome, Piece, SampledSet,
                      Sensitivity, impact, impact_in_contact_space)
from ._map import MapResult, map
from ._measured import MeasuredResult, MeasuredRow, measured
from ._motion import Event, Inclusion, Instant, State, Stepper, Trajectory, Zeno, at_start, simulate, stepper
from ._mujoco import from_mujoco
from ._options import LAWS, METHODS
from ._scenario import Scenario, load, scenario_names, scenario_text
from ._selected import Crossing, SelectedMotion, event_selected
from ._system import Contact, System

__all__ = [
    "BatchResult", "Branch", "BranchTree", "CheckResult", "Contact", "Containment", "Crossing", "EnsembleResult", "Event",
    "ExactSet", "Extreme", "Group", "ImpactResult", "Inclusion", "Instant", "LAWS", "METHODS", "MapResult",
    "MeasuredResult", "MeasuredRow", "Moves", "Outcome", "Piece", "Run", "SampledSet", "Scenario", "SelectedMotion", "Sensitivity", "State",
    "Stepper", "System", "Trajectory", "Zeno", "at_start", "branch", "ensemble", "event_selected", "from_mujoco", "has_cuda", "has_exact", "has_models",
    "impact", "impact_batch", "impact_in_contact_space", "lcp", "load", "map", "measured", "scenario_names", "scenario_text",
    "simulate", "stepper", "__version__",
]

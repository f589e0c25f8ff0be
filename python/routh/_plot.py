"""Figures with Matplotlib."""

import functools

import numpy as np

from . import _core

#: Laws as the command's figures colour them.
_COLOURS = {name: colours[0] for name, _, _, colours in _core.laws() if colours} | {"set": "#35b0a0"}
_MOST_POINTS = 20000


def _axes(axes, count, width=3.6, height=3.3):
    import matplotlib.pyplot as plt
    if axes is not None:
        axes = np.atleast_1d(axes).ravel()
        if len(axes) < count:
            raise ValueError(f"axes: {count} are needed, {len(axes)} were given")
        if not all(hasattr(one, "plot") and hasattr(one, "figure") for one in axes):
            raise ValueError("axes: must be of Matplotlib, as plt.subplots() makes them")
        return axes[0].figure, axes
    figure, made = plt.subplots(1, count, figsize=(width * count, height), squeeze=False, layout="constrained")
    figure._ipython_display_ = functools.partial(_once, figure)
    return figure, made.ravel()


def _once(figure):
    """Notebooks show open figures at the end of a cell: one that is shown as the value of the cell is closed before."""
    import matplotlib.pyplot as plt
    if "inline" in plt.get_backend():
        plt.close(figure)
    raise NotImplementedError  # to IPython: show it as any other


def _panels(names, tangents):
    """Pairs of contact velocities to look at: (index, label) of x and y."""
    m = len(names)

    def normal(i):
        return i, f"normal velocity of {names[i]} [m/s]"

    def tangent(i):
        return m + i * tangents, f"tangential velocity of {names[i]} [m/s]"

    if m == 1:
        return [(tangent(0), normal(0))]
    if m == 2:
        return [(tangent(0), normal(0)), (normal(0), normal(1)), (tangent(1), normal(1))]
    return [(normal(0), normal(1)), (normal(m - 2), normal(m - 1)), (tangent(0), normal(0))]


def plot_impact(result, axes=None):
    panels = _panels(result.contacts, result._core.tangents)
    figure, axes = _axes(axes, len(panels))
    for axis, ((x, x_label), (y, y_label)) in zip(axes, panels):
        if result.law == "set":
            c = result.contact_velocities[:_MOST_POINTS][result.ended[:_MOST_POINTS]]
            axis.plot(c[:, x], c[:, y], ".", color="#0c4a42", ms=1.5, rasterized=True, label="samples")
        if result.law == "exact":
            for piece in result.pieces:
                _fill(axis, piece.corners[:, [x, y]])
        labelled = set()
        for outcome in result.outcomes if result.law not in ("set", "exact") else ():
            law = outcome.laws[0]
            axis.plot(*outcome.contact_velocity[[x, y]], "o", mfc="none", mew=1.6, color=_COLOURS.get(law, "#555555"),
                      label=None if law in labelled else law)
            labelled.add(law)
        axis.plot(result.c[x], result.c[y], "k+", ms=9, label="before")
        _no_narrower(axis, 1e-6 * np.abs(result.c).max())
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize="small")
    figure.suptitle(result.verdict, fontsize="small", wrap=True)
    return figure


def _no_narrower(axis, least):
    """Rounding is not to fill a panel."""
    for low, high, move in ((*axis.get_xlim(), axis.set_xlim), (*axis.get_ylim(), axis.set_ylim)):
        if high - low < least:
            move((low + high) / 2 - 0.05e6 * least, (low + high) / 2 + 0.05e6 * least)


def _fill(axis, points):
    """The hull of points in the plane."""
    centre = points.mean(axis=0)
    points = points[np.argsort(np.arctan2(*(points - centre).T[::-1]))]
    axis.fill(*points.T, color="#35b0a0", alpha=0.35)
    axis.plot(*np.vstack([points, points[:1]]).T, color="#35b0a0", lw=1.5)


def plot_motion(trajectory, axes=None):
    figure, axes = _axes(axes, 3, 4.0)
    most = 8
    for axis, values, names, label in ((axes[0], trajectory.q, trajectory.scenario.coordinates, "coordinates [m, rad]"),
                                       (axes[1], trajectory.v, trajectory.scenario.velocities, "velocities [m/s, rad/s]")):
        for i in range(min(most, values.shape[1])):
            axis.plot(trajectory.time, values[:, i], lw=1.2, label=names[i])
        axis.set_ylabel(label)
        axis.legend(fontsize="x-small", loc="best")
    if len(trajectory.energy):
        axes[2].plot(trajectory.time, trajectory.energy, "k", lw=1.2)
    axes[2].set_ylabel("energy [J]")
    for axis in axes[:3]:
        for event in trajectory.events:
            if event.kind == "impact":
                axis.axvline(event.time, color="#c8281e", lw=0.5, alpha=0.4)
        axis.set_xlabel("time [s]")
        axis.grid(alpha=0.3)
    figure.suptitle(f"{trajectory.scenario.name} by {trajectory.method}: {trajectory.status}", fontsize="small")
    return figure


def plot_ensemble(result, coordinate=None, axes=None):
    names = result.scenario.coordinates
    if coordinate is not None and coordinate not in names:
        raise ValueError(f"coordinate {coordinate!r}: known are {', '.join(names)}")
    ends = result.final_q
    k = names.index(coordinate) if coordinate is not None else int(np.argmax(np.ptp(ends, axis=0)))
    figure, axes = _axes(axes, 2, 4.5)
    for time, q, _ in result.kept:
        axes[0].plot(time, q[:, k], color="#1f5fbf", lw=0.6, alpha=0.25)
    axes[0].set_xlabel("time [s]")
    axes[0].set_ylabel(f"{names[k]} [m, rad]")
    axes[1].hist(ends[:, k], bins=40, color="#1f5fbf")
    axes[1].set_xlabel(f"{names[k]} at the end [m, rad]")
    axes[1].set_ylabel("runs")
    for axis in axes[:2]:
        axis.grid(alpha=0.3)
    figure.suptitle(f"{result.scenario.name}: {len(result)} runs, {len(result.words)} contact words", fontsize="small")
    return figure

"""MuJoCo's Python model and data as our terms."""

import numpy as np

from ._impact import _matrices
from ._options import number

_LIMITS = (3, 4)  # mjCNSTR_LIMIT_JOINT, mjCNSTR_LIMIT_TENDON


def _name(model, geom):
    name = model.geom(geom).name
    return name or f"geom{geom}"


def _distinct(names):
    seen = {}
    for k, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        names[k] = name if seen[name] == 1 else f"{name} {seen[name]}"
    return names


def _constraint_rows(mujoco, model, data):
    """efc_J, dense as it may be sparse."""
    n, nv, J = data.nefc, model.nv, np.asarray(data.efc_J, dtype=float).ravel()
    if not mujoco.mj_isSparse(model):
        return J[:n * nv].reshape(n, nv)
    rows = np.zeros((n, nv))
    columns = np.asarray(data.efc_J_colind).ravel()
    for k in range(n):
        own = slice(data.efc_J_rowadr[k], data.efc_J_rowadr[k] + data.efc_J_rownnz[k])
        rows[k, columns[own]] = J[own]
    return rows


def from_mujoco(model, data, *, touching=1e-4, cone=None, edges=None, mujoco=None):
    """The impact at the state of MuJoCo's `data`, as a `routh.Scenario`: its `impact` and `check`.

    model, data -- mujoco.MjModel and mujoco.MjData, after mujoco.mj_forward(model, data)
    touching -- contacts nearer than this take part [m]
    cone, edges -- "circular" or "polygon", and of how many edges
    mujoco -- the module, where it is not the one that `import mujoco` finds

    Contacts take their tangential friction (none where condim is 1), active limits of joints become
    contacts without friction, equality constraints bilateral rows; softness is left out. Velocities
    that violate the equalities lose that part, in the metric of the inertia. ::

        mujoco.mj_forward(model, data)
        print(routh.from_mujoco(model, data).impact())
    """
    if mujoco is None:
        try:
            import mujoco
        except ImportError:
            raise ImportError("from_mujoco needs MuJoCo's own Python package, mujoco; routh.load() reads its files without it") \
                from None
    touching = number("touching", touching, above=0)
    nv = model.nv
    M = np.zeros((nv, nv))
    if hasattr(data, "qM"):
        mujoco.mj_fullM(model, M, data.qM)
    else:  # later versions
        mujoco.mj_fullM(model, data, M)
    v = np.array(data.qvel, dtype=float)

    Jn, Jt, mu, names = [], [], [], []
    for k in range(data.ncon):
        contact = data.contact[k]
        if contact.dist > touching:
            continue
        frame = np.asarray(contact.frame, dtype=float).reshape(3, 3)  # rows: normal, two tangents
        point = np.asarray(contact.pos, dtype=float)
        geoms = (int(contact.geom1), int(contact.geom2))
        J = np.zeros((3, nv))
        for sign, geom in zip((-1, 1), geoms):  # the normal points from the first to the second
            jac = np.zeros((3, nv))
            mujoco.mj_jac(model, data, jac, None, point, int(model.geom_bodyid[geom]))
            J += sign * jac
        J = frame @ J
        Jn.append(J[0])
        Jt += [J[1], J[2]]
        mu.append(float(contact.friction[0]) if contact.dim > 1 else 0.0)
        names.append("/".join(_name(model, g) for g in reversed(geoms)))

    A = None
    if data.nefc:
        rows = _constraint_rows(mujoco, model, data)
        for k in np.flatnonzero(np.isin(np.asarray(data.efc_type)[:data.nefc], _LIMITS)):
            if data.efc_pos[k] <= touching:
                Jn.append(rows[k])
                Jt += [np.zeros(nv), np.zeros(nv)]
                mu.append(0.0)
                names.append(f"limit {int(data.efc_id[k])}")
        if data.ne:
            A = rows[:data.ne]
            free = np.linalg.solve(M, A.T)
            v = v - free @ (np.linalg.pinv(A @ free) @ (A @ v))
    if not Jn:
        raise ValueError(f"no contact is nearer than {touching:g} m; move the model, or raise touching")
    return _matrices(M, np.array(Jn), np.array(Jt), np.array(mu), v, A, _distinct(names), cone, edges)

#pragma once

#include <mujoco/mujoco.h>

#include <algorithm>

/// Where versions of MuJoCo differ, from 2.2.2 to 3.12; all else in this folder knows one MuJoCo.
/// Members that came or went are asked for by name, so that no list of versions has to be kept;
/// enumerators cannot be, and have the first version that has them.
namespace routh::mujoco {

#if mjVERSION_HEADER >= 336
inline constexpr int kNoPassiveForces = mjDSBL_SPRING | mjDSBL_DAMPER;
#else
inline constexpr int kNoPassiveForces = mjDSBL_PASSIVE;
#endif

// Bodies that sleep are not moved to where q says.
#if mjVERSION_HEADER >= 340
inline constexpr int kSleep = mjENBL_SLEEP;
#else
inline constexpr int kSleep = 0;
#endif

// Geometries that we move within their bodies are not where its tree of boxes has them.
#if mjVERSION_HEADER >= 233
inline constexpr int kNoTrees = mjDSBL_MIDPHASE;
#else
inline constexpr int kNoTrees = 0;
#endif

// What a model has too little of where contacts are dropped.
#if mjVERSION_HEADER >= 230
inline constexpr const char* kRoom = "memory (<size memory=..>)";
#else
inline constexpr const char* kRoom = "nconmax";
#endif

// A pair is near within the larger of its margins, later within their sum.
#if mjVERSION_HEADER >= 3005000
inline constexpr double kMarginOfEach = 0.5;
#else
inline constexpr double kMarginOfEach = 1;
#endif

// Are distances of convex shapes that are apart within a margin their own, or those of shapes that
// are inflated by it?
#if mjVERSION_HEADER >= 320
inline constexpr bool kKnowsDistances = true;
#else
inline constexpr bool kKnowsDistances = false;
#endif

/// Margins of whole bodies, by which what is far apart is passed over before geometries are
/// compared; null where there are none.
template <class Model>
auto body_margins(Model& m) -> mjtNum** {
  if constexpr (requires { m.body_margin; }) {
    return &m.body_margin;
  } else {
    return nullptr;
  }
}

/// What a collision function fills: mjContact, later a part of it.
template <class Data, class Found>
Found found_by(int (*)(const mjModel*, Data*, Found*, int, int, mjtNum));
using Found = decltype(found_by(mjfCollision{}));

template <class Contact>
const mjtNum* normal_of(const Contact& contact) {
  if constexpr (requires { contact.normal; }) {
    return contact.normal;
  } else {
    return contact.frame;
  }
}

/// The inertia at the positions of the data, with all that adds to it.
template <class Data>
void make_inertia(const mjModel& m, Data& d) {
  if constexpr (requires { mj_makeM(&m, &d); }) {
    mj_makeM(&m, &d);
  } else {
    mj_crb(&m, &d);
  }
}

/// It as a full matrix, nv x nv, all other entries of which are zero already.
template <class Data>
void full_inertia(const mjModel& m, const Data& d, mjtNum* M) {
  if constexpr (requires { mj_fullM(&m, &d, M); }) {
    mj_fullM(&m, &d, M);
  } else {
    const mjtNum* entry = d.qM;
    for (int i = 0; i < m.nv; ++i) {
      for (int j = i; j >= 0; j = m.dof_parentid[j], ++entry)
        M[i * static_cast<long>(m.nv) + j] = M[j * static_cast<long>(m.nv) + i] = *entry;
    }
  }
}

/// Actuators; controls are as many, or more.
template <class Model>
int actuators(const Model& m) {
  if constexpr (requires { m.nactuator; }) {
    return static_cast<int>(m.nactuator);
  } else {
    return m.nu;
  }
}

/// The force and the moment arms of an actuator, or -1 where it has several.
template <class Model>
int output_of(const Model& m, int actuator) {
  if constexpr (requires { m.actuator_outadr; }) {
    return m.actuator_outnum[actuator] == 1 ? m.actuator_outadr[actuator] : -1;
  } else {
    return actuator;
  }
}

/// visit(velocity, arm) of one output, where the arm is not zero.
template <class Data, class Visit>
void moment_arms(const mjModel& m, const Data& d, int actuator, int output, const Visit& visit) {
  if constexpr (requires { d.moment_rownnz; }) {
    const int begin = d.moment_rowadr[output], end = begin + d.moment_rownnz[output];
    for (int k = begin; k < end; ++k) visit(d.moment_colind[k], d.actuator_moment[k]);
  } else {
    const int nv = static_cast<int>(m.nv), joint = m.actuator_trnid[2 * actuator];
    const bool own = m.actuator_trntype[actuator] == mjTRN_JOINT &&
                     (m.jnt_type[joint] == mjJNT_HINGE || m.jnt_type[joint] == mjJNT_SLIDE);
    const int from = own ? m.jnt_dofadr[joint] : 0, to = own ? from + 1 : nv;
    for (int j = from; j < to; ++j) {
      if (const mjtNum arm = d.actuator_moment[output * nv + j]; arm != 0) visit(j, arm);
    }
  }
}

/// Deformable bodies that collide.
template <class Model>
bool has_flexes(const Model& m) {
  if constexpr (requires { m.nflex; }) {
    return m.nflex > 0;
  } else {
    return false;
  }
}

}  // namespace routh::mujoco

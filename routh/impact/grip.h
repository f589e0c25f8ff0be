#pragma once

#include <cstdint>

namespace routh {

/// What a contact does during a step or in a mode of a hybrid system. Where only the velocity is
/// known, ContactState (problem.h) tells what it shows; what the step problem leaves open in each
/// case is a ContactMode (modes.h).
enum class Grip : std::uint8_t {
  kOpen,
  kStick,          ///< holds in the normal and in the tangential direction
  kSlide,          ///< holds in the normal direction alone: without friction (P4 A12), or in space,
                   ///< whatever the direction
  kSlidePositive,  ///< slides towards +Jt against Coulomb friction
  kSlideNegative,  ///< slides towards -Jt
};
inline bool closed(Grip grip) { return grip != Grip::kOpen; }

}  // namespace routh

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routh/mujoco/system.h"

/// The text of a model on its way to MuJoCo: what owners' files leave to their surroundings is put
/// in, so that MuJoCo reads one text. Inside this folder alone.
namespace routh::mujoco {

bool is_urdf(std::string_view text);

/// An MJCF file with its includes in place; nothing where one is missing or includes itself: what
/// MuJoCo says of it is then better than what we could.
std::optional<std::string> with_includes(const std::string& path);

/// MJCF that can be read from anywhere, its files in `folder` ("": the current one). Pictures on
/// surfaces become plain colours: nothing here looks at them, and to decode them can take MuJoCo
/// longer than all else. Throws std::invalid_argument where an addition has no place.
std::string prepared_mjcf(std::string text, const std::string& folder, const Additions& additions);

/// The same with a free joint's place in its keyframes: 7 numbers before each qpos, 6 zeros before
/// each qvel. The joint of prepared_mjcf() comes first.
std::string with_keyframes_of_free_root(std::string text, const double* place);

/// URDF whose meshes are found: beside the file, in folders of packages around it (package://) and
/// in those that ROS_PACKAGE_PATH and AMENT_PREFIX_PATH name. Pictures that are nowhere or in a
/// format that MuJoCo does not read are left out: it discards them unless told otherwise. No floor
/// is added here. Throws std::invalid_argument naming a mesh of a collision that is nowhere.
std::string prepared_urdf(std::string text, const std::string& folder, const Additions& additions);

/// Has it pictures on surfaces?
bool has_pictures(std::string_view text);

}  // namespace routh::mujoco

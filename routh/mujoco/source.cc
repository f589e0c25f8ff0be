#include "routh/mujoco/source.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace routh::mujoco {
namespace {

namespace fs = std::filesystem;

/// "<name ..>", "</name>" or "<name ../>" from `begin` up to `end`.
struct Tag {
  std::size_t begin = 0, end = 0;
  std::string name;
  bool closes = false, alone = false;
};

constexpr std::string_view kBlank = " \t\r\n";

/// All tags, in their order; comments and declarations are none.
std::vector<Tag> tags_of(std::string_view text) {
  std::vector<Tag> tags;
  const auto skip = [&](std::size_t at, std::string_view until) {
    const std::size_t found = text.find(until, at);
    return found == text.npos ? text.size() : found + until.size();
  };
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<!--")) {
      at = skip(at, "-->");
    } else if (rest.starts_with("<![CDATA[")) {
      at = skip(at, "]]>");
    } else if (rest.starts_with("<?") || rest.starts_with("<!")) {
      at = skip(at, ">");
    } else {
      Tag tag{.begin = at};
      tag.closes = rest.starts_with("</");
      std::size_t from = at + (tag.closes ? 2 : 1);
      const std::size_t to = std::min(text.find_first_of(" \t\r\n/>", from), text.size());
      tag.name = text.substr(from, to - from);
      // values may hold anything but their own quotes
      char quote = 0;
      for (at = to; at < text.size() && (quote || text[at] != '>'); ++at) {
        if (quote ? text[at] == quote : text[at] == '"' || text[at] == '\'')
          quote = quote ? 0 : text[at];
      }
      tag.alone = at < text.size() && text[at - 1] == '/';
      at = tag.end = std::min(at + 1, text.size());
      tags.push_back(std::move(tag));
    }
  }
  return tags;
}

/// Where the value of an attribute stands, without its quotes.
struct Span {
  std::size_t begin = 0, end = 0;
};
std::optional<Span> span_of(std::string_view text, const Tag& tag, std::string_view name) {
  std::size_t at = tag.begin + 1 + tag.name.size();
  while (at < tag.end) {
    at = text.find_first_not_of(kBlank, at);
    if (at >= tag.end) break;
    const std::size_t equals = text.find('=', at);
    if (equals >= tag.end) break;
    std::string_view key = text.substr(at, equals - at);
    key = key.substr(0, key.find_last_not_of(kBlank) + 1);
    const std::size_t open = text.find_first_of("\"'", equals);
    if (open >= tag.end) break;
    const std::size_t close = text.find(text[open], open + 1);
    if (close >= tag.end) break;
    if (key == name) return Span{open + 1, close};
    at = close + 1;
  }
  return {};
}

/// With the five entities of XML read.
std::optional<std::string> value_of(std::string_view text, const Tag& tag, std::string_view name) {
  const std::optional<Span> span = span_of(text, tag, name);
  if (!span) return {};
  std::string value(text.substr(span->begin, span->end - span->begin));
  for (const auto& [entity, c] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = value.find(entity, at)) != value.npos; ++at)
      value.replace(at, std::string_view(entity).size(), c);
  }
  return value;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '&'    ? "&amp;"
           : c == '<'  ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&apos;"
                       : std::string(1, c);
  }
  return out;
}

/// Pieces of a text replaced by others.
struct Edits {
  struct Edit {
    std::size_t begin, end;
    std::string by;
  };
  std::vector<Edit> edits = {};

  void replace(std::size_t begin, std::size_t end, std::string by) {
    edits.push_back({begin, end, std::move(by)});
  }
  void insert(std::size_t at, std::string text) { replace(at, at, std::move(text)); }
  std::string in(const std::string& text) {
    std::stable_sort(edits.begin(), edits.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string out;
    std::size_t at = 0;
    for (const Edit& e : edits) {
      if (e.begin < at) continue;  // within one that is gone
      out.append(text, at, e.begin - at).append(e.by);
      at = e.end;
    }
    return out.append(text, at);
  }
};

/// The tag that ends what `from` begins, or the last.
std::size_t end_of(const std::vector<Tag>& tags, std::size_t from) {
  if (tags[from].alone) return from;
  int depth = 0;
  for (std::size_t k = from; k < tags.size(); ++k) {
    if (!tags[k].alone) depth += tags[k].closes ? -1 : 1;
    if (depth == 0) return k;
  }
  return tags.size() - 1;
}

std::optional<std::string> content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!fs::is_regular_file(path) || !in || !(text << in.rdbuf())) return {};
  return text.str();
}

std::optional<std::string> included(const fs::path& path, const fs::path& folder,
                                    std::set<std::string>& seen) {
  std::error_code error;
  if (!seen.insert(fs::weakly_canonical(path, error).string()).second) return {};
  const std::optional<std::string> text = content_of(path);
  if (!text) return {};
  Edits edits;
  const std::vector<Tag> tags = tags_of(*text);
  for (std::size_t k = 0; k < tags.size(); ++k) {
    if (tags[k].name != "include" || tags[k].closes) continue;
    const std::optional<std::string> file = value_of(*text, tags[k], "file");
    if (!file) return {};
    // relative to the model, in newer versions to the file that includes
    fs::path where = folder / *file;
    if (!fs::exists(where, error)) where = path.parent_path() / *file;
    const std::optional<std::string> inner = included(where, folder, seen);
    if (!inner) return {};
    // what is in its root takes the place of the element
    const std::vector<Tag> of = tags_of(*inner);
    if (of.empty()) return {};
    const std::size_t last = end_of(of, 0);
    const std::string body = last == 0 ? "" : inner->substr(of[0].end, of[last].begin - of[0].end);
    edits.replace(tags[k].begin, tags[end_of(tags, k)].end, body);
  }
  return edits.in(*text);
}

bool is_picture(std::string_view text, const Tag& tag) {
  if (tag.name != "texture" || tag.closes) return false;
  for (const char* from :
       {"file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"}) {
    if (span_of(text, tag, from)) return true;
  }
  return false;
}

std::string plain_texture(std::string_view text, const Tag& tag) {
  const std::string file = value_of(text, tag, "file").value_or("");
  const std::string name = value_of(text, tag, "name").value_or(fs::path(file).stem().string());
  const std::string type = value_of(text, tag, "type").value_or("cube");
  return "<texture " + (name.empty() ? "" : "name=\"" + escaped(name) + "\" ") + "type=\"" + type +
         "\" builtin=\"flat\" rgb1=\"1 1 1\" width=\"1\" height=\"" + (type == "2d" ? "1" : "6") +
         (tag.alone ? "\"/>" : "\">");
}

bool has_own_joint(const std::vector<Tag>& tags, std::size_t body) {
  const std::size_t last = end_of(tags, body);
  int depth = 0;
  for (std::size_t k = body; k < last; ++k) {
    const bool joint = tags[k].name == "joint" || tags[k].name == "freejoint";
    if (joint && !tags[k].closes && depth == 1) return true;
    if (!tags[k].alone) depth += tags[k].closes ? -1 : 1;
  }
  return false;
}

/// A name that the text does not use.
std::string fresh(const std::string& text, std::string name) {
  while (text.find('"' + name + '"') != text.npos || text.find('\'' + name + '\'') != text.npos)
    name += '_';
  return name;
}

}  // namespace

bool is_urdf(std::string_view text) {
  const std::vector<Tag> tags = tags_of(text);
  return !tags.empty() && tags[0].name == "robot";
}

bool has_pictures(std::string_view text) {
  const std::vector<Tag> tags = tags_of(text);
  return std::any_of(tags.begin(), tags.end(),
                     [&](const Tag& tag) { return is_picture(text, tag); });
}

std::optional<std::string> with_includes(const std::string& path) {
  std::set<std::string> seen;
  return included(path, fs::path(path).parent_path(), seen);
}

std::string prepared_mjcf(std::string text, const std::string& folder, const Additions& additions) {
  const std::vector<Tag> tags = tags_of(text);
  if (tags.empty() || tags[0].name != "mujoco" || tags[0].alone) return text;
  Edits edits;
  std::string meshes, textures, end;
  std::size_t world = tags.size();
  for (std::size_t k = 0; k < tags.size(); ++k) {
    const Tag& tag = tags[k];
    if (tag.closes) continue;
    if (is_picture(text, tag)) edits.replace(tag.begin, tag.end, plain_texture(text, tag));
    if (tag.name == "compiler") {
      const std::optional<std::string> assets = value_of(text, tag, "assetdir");
      if (assets) meshes = textures = *assets;
      meshes = value_of(text, tag, "meshdir").value_or(meshes);
      textures = value_of(text, tag, "texturedir").value_or(textures);
    }
    // the first body of the world, wherever worldbody is written
    if (tag.name == "worldbody" && !tag.alone && world == tags.size()) {
      const std::size_t last = end_of(tags, k);
      for (std::size_t b = k + 1; b < last; b = end_of(tags, b) + 1) {
        if (tags[b].name != "body" || tags[b].closes) continue;
        world = b;
        break;
      }
    }
  }

  // the folders of files, from wherever the text is read; the last compiler counts
  const auto absolute = [&](const std::string& of) {
    return escaped((fs::current_path() / folder / of).lexically_normal().string());
  };
  end += "<compiler meshdir=\"" + absolute(meshes) + "\" texturedir=\"" + absolute(textures) +
         "\"/>\n";
  if (additions.floor) {
    end += "<worldbody><geom name=\"" + fresh(text, "floor") +
           "\" type=\"plane\" size=\"0 0 1\" contype=\"1\" conaffinity=\"1\" group=\"0\" "
           "rgba=\".8 .8 .8 1\"/></worldbody>\n";
  }
  if (additions.floating) {
    if (world == tags.size())
      throw std::invalid_argument("the world has no body to put a free joint under");
    const std::string name = value_of(text, tags[world], "name").value_or("of the world");
    if (tags[world].alone || has_own_joint(tags, world))
      throw std::invalid_argument("body " + name +
                                  " moves against the world already, by joints of its own: a free "
                                  "joint is for models whose root is fixed");
    edits.insert(tags[world].end, "<freejoint/>");
  }
  edits.insert(tags[end_of(tags, 0)].begin, end);
  return edits.in(text);
}

std::string with_keyframes_of_free_root(std::string text, const double* place) {
  std::ostringstream numbers;
  numbers.precision(17);
  for (int k = 0; k < 7; ++k) numbers << place[k] << ' ';
  Edits edits;
  for (const Tag& tag : tags_of(text)) {
    if (tag.name != "key" || tag.closes) continue;
    if (const auto q = span_of(text, tag, "qpos")) edits.insert(q->begin, numbers.str());
    if (const auto v = span_of(text, tag, "qvel")) edits.insert(v->begin, "0 0 0 0 0 0 ");
  }
  return edits.in(text);
}

namespace {

/// Folders in which packages may lie.
std::vector<fs::path> package_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  fs::path above = (fs::current_path() / folder).lexically_normal();
  if (!above.has_filename()) above = above.parent_path();
  for (; !above.empty(); above = above.parent_path()) {
    folders.push_back(above);
    if (above == above.root_path()) break;
  }
  for (const auto& [variable, below] :
       {std::pair{"ROS_PACKAGE_PATH", ""}, {"AMENT_PREFIX_PATH", "share"}}) {
    const char* named = std::getenv(variable);
    std::istringstream list(named ? named : "");
    for (std::string one; std::getline(list, one, ':');) {
      if (!one.empty()) folders.push_back(fs::path(one) / below);
    }
  }
  return folders;
}

/// Where a mesh of a URDF lies, or nothing.
std::optional<fs::path> found_mesh(const std::string& uri, const fs::path& folder,
                                   const fs::path& meshdir) {
  std::error_code error;
  const auto there = [&](const fs::path& path) { return fs::is_regular_file(path, error); };
  const std::size_t scheme = uri.find("://");
  std::string rest = scheme == uri.npos ? uri : uri.substr(scheme + 3);
  if (uri.starts_with("file://")) return there(rest) ? std::optional<fs::path>(rest) : std::nullopt;
  if (scheme == uri.npos) {
    for (const fs::path& path :
         {folder / rest, folder / meshdir / rest, folder / meshdir / fs::path(rest).filename()}) {
      if (there(path)) return path;
    }
  }
  // "package://name/path": below a folder of that name, or in it
  const std::string package = rest.substr(0, rest.find('/'));
  const std::string inner = rest.substr(std::min(rest.find('/') + 1, rest.size()));
  for (const fs::path& at : package_folders(folder)) {
    if (there(at / rest)) return at / rest;
    if (at.filename() == package && there(at / inner)) return at / inner;
  }
  // a package that was unpacked under another name: its inner path beside the file or above
  for (const fs::path& at : {folder, folder / ".."}) {
    if (scheme != uri.npos && there(at / inner)) return at / inner;
  }
  const fs::path beside = folder / meshdir / fs::path(rest).filename();
  return there(beside) ? std::optional<fs::path>(beside) : std::nullopt;
}

std::string lower_ending(const std::string& file) {
  std::string ending = fs::path(file).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return ending;
}

}  // namespace

namespace {

/// Where a joint already ties the root to a link called world, it becomes the free one.
void free_of_world(const std::string& text, const std::vector<Tag>& tags, Edits& edits) {
  std::size_t joint = 0;
  for (std::size_t k = 0; k < tags.size(); ++k) {
    if (tags[k].closes) continue;
    if (tags[k].name == "joint") joint = k;
    if (tags[k].name != "parent" || value_of(text, tags[k], "link") != "world") continue;
    const auto type = span_of(text, tags[joint], "type");
    if (type && text.substr(type->begin, type->end - type->begin) == "fixed") {
      edits.replace(type->begin, type->end, "floating");
      return;
    }
  }
  throw std::invalid_argument(
      "no link is without a parent or fixed to the world: a free joint has no place");
}

}  // namespace

std::string prepared_urdf(std::string text, const std::string& folder, const Additions& additions) {
  const std::vector<Tag> tags = tags_of(text);
  Edits edits;
  std::string meshdir;
  std::size_t compiler = tags.size(), extension = tags.size();
  for (std::size_t k = 0; k < tags.size(); ++k) {
    if (tags[k].closes) continue;
    if (tags[k].name == "compiler" && compiler == tags.size()) compiler = k;
    if (tags[k].name == "mujoco" && extension == tags.size()) extension = k;
  }
  if (compiler < tags.size()) meshdir = value_of(text, tags[compiler], "meshdir").value_or("");

  // meshes, by where they are; what is only seen may be left out
  std::string link;
  std::set<std::string> children, links;
  std::vector<std::string> order;
  bool joint = false;
  for (std::size_t k = 0; k < tags.size(); ++k) {
    const Tag& tag = tags[k];
    if (tag.name == "joint") joint = !tag.closes && !tag.alone;
    if (tag.closes) continue;
    if (tag.name == "link" && !joint) {
      link = value_of(text, tag, "name").value_or("");
      if (links.insert(link).second) order.push_back(link);
    }
    if (tag.name == "child") children.insert(value_of(text, tag, "link").value_or(""));
    const bool visual = tag.name == "visual";
    if (visual || tag.name == "collision") {
      const std::size_t last = end_of(tags, k);
      for (std::size_t i = k; i < last; ++i) {
        if (tags[i].name != "mesh" || tags[i].closes) continue;
        const std::string uri = value_of(text, tags[i], "filename").value_or("");
        const std::optional<fs::path> at = found_mesh(uri, folder, meshdir);
        const std::string ending = lower_ending(uri);
        const bool readable = ending == ".stl" || ending == ".obj" || ending == ".msh";
        if (at && readable) {
          if (const auto span = span_of(text, tags[i], "filename"))
            edits.replace(span->begin, span->end,
                          escaped(fs::absolute(*at).lexically_normal().string()));
        } else if (visual) {
          edits.replace(tag.begin, tags[last].end, "");
          break;
        } else if (at) {
          throw std::invalid_argument("link " + link +
                                      ": MuJoCo reads meshes of STL and OBJ, not " + uri +
                                      "; convert it and change its filename");
        } else {
          throw std::invalid_argument(
              "link " + link + ": the mesh " + uri +
              " was not found beside the file or in a folder above it; name the folder of its "
              "package in ROS_PACKAGE_PATH, or change its filename");
        }
      }
      if (last > k) k = last;
    }
  }

  // what was found has its whole path
  if (compiler < tags.size()) {
    for (const char* name : {"strippath", "meshdir"}) {
      if (const auto span = span_of(text, tags[compiler], name))
        edits.replace(span->begin, span->end, *name == 's' ? "false" : "");
    }
    if (!span_of(text, tags[compiler], "strippath"))
      edits.insert(tags[compiler].begin + 9, " strippath=\"false\"");
  } else if (extension < tags.size() && !tags[extension].alone) {
    edits.insert(tags[extension].end, "<compiler strippath=\"false\"/>");
  } else {
    edits.insert(tags[0].end, "<mujoco><compiler strippath=\"false\"/></mujoco>");
  }

  if (additions.floating) {
    const auto root = std::find_if(order.begin(), order.end(), [&](const std::string& name) {
      return name != "world" && !children.contains(name);
    });
    if (root == order.end()) {
      free_of_world(text, tags, edits);
    } else {
      if (!links.contains("world")) edits.insert(tags[0].end, "<link name=\"world\"/>");
      edits.insert(tags[0].end, "<joint name=\"" + fresh(text, "free") +
                                    "\" type=\"floating\"><parent link=\"world\"/><child link=\"" +
                                    escaped(*root) + "\"/></joint>");
    }
  }
  return edits.in(text);
}

}  // namespace routh::mujoco

#include "routh/io/gif.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace routh::io {
namespace {

constexpr int kPalette = 256, kProbes = 6;  // frames that choose the palette
constexpr int kBins = 1 << 15;              // five bits of each of three colours

using Rgb = std::array<std::uint8_t, 3>;

int bin_of(const std::uint8_t* rgb) { return rgb[0] >> 3 << 10 | rgb[1] >> 3 << 5 | rgb[2] >> 3; }

/// How often each bin is met, and the sum of what is in it.
struct Histogram {
  std::vector<std::int64_t> count = std::vector<std::int64_t>(kBins);
  std::vector<std::array<std::int64_t, 3>> sum = std::vector<std::array<std::int64_t, 3>>(kBins);

  void add(const Image& image) {
    for (std::size_t k = 0; k + 2 < image.rgb.size(); k += 3) {
      const int bin = bin_of(&image.rgb[k]);
      ++count[bin];
      for (int c = 0; c < 3; ++c) sum[bin][c] += image.rgb[k + c];
    }
  }
};

/// Colours that serve the histogram, by cutting the box with the widest spread at its median.
std::vector<Rgb> palette_of(const Histogram& seen) {
  std::vector<int> bins;
  for (int b = 0; b < kBins; ++b) {
    if (seen.count[b] > 0) bins.push_back(b);
  }
  struct Box {
    std::size_t begin, end;
    int axis = 0;
    double spread = 0;
  };
  const auto part = [](int bin, int axis) { return bin >> (10 - 5 * axis) & 31; };
  const auto measured = [&](std::size_t begin, std::size_t end) {
    Box box{begin, end};
    for (int axis = 0; axis < 3; ++axis) {
      int low = 31, high = 0;
      double weight = 0;
      for (std::size_t k = begin; k < end; ++k) {
        low = std::min(low, part(bins[k], axis)), high = std::max(high, part(bins[k], axis));
        // rare colours matter too
        weight += std::sqrt(static_cast<double>(seen.count[bins[k]]));
      }
      const double spread = (high - low) * std::sqrt(weight);
      if (spread > box.spread) box.spread = spread, box.axis = axis;
    }
    return box;
  };
  std::vector<Box> boxes;
  if (!bins.empty()) boxes.push_back(measured(0, bins.size()));
  while (static_cast<int>(boxes.size()) < kPalette) {
    const auto widest = std::max_element(
        boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.spread < b.spread; });
    if (widest == boxes.end() || widest->spread <= 0) break;
    const Box box = *widest;
    std::sort(bins.begin() + box.begin, bins.begin() + box.end, [&](int a, int b) {
      return std::pair(part(a, box.axis), a) < std::pair(part(b, box.axis), b);
    });
    const auto root = [&](std::size_t k) {
      return std::sqrt(static_cast<double>(seen.count[bins[k]]));
    };
    double half = 0;
    for (std::size_t k = box.begin; k < box.end; ++k) half += root(k) / 2;
    std::size_t cut = box.begin;
    for (double sum = 0; cut < box.end && sum < half; ++cut) sum += root(cut);
    cut = std::clamp(cut, box.begin + 1, box.end - 1);
    *widest = measured(box.begin, cut);
    boxes.push_back(measured(cut, box.end));
  }
  std::vector<Rgb> palette;
  for (const Box& box : boxes) {
    std::int64_t count = 0;
    std::array<std::int64_t, 3> sum{};
    for (std::size_t k = box.begin; k < box.end; ++k) {
      count += seen.count[bins[k]];
      for (int c = 0; c < 3; ++c) sum[c] += seen.sum[bins[k]][c];
    }
    Rgb mean{};
    for (int c = 0; c < 3; ++c) mean[c] = static_cast<std::uint8_t>(sum[c] / count);
    palette.push_back(mean);
  }
  return palette;
}

/// The nearest of the palette, remembered for each bin.
class Nearest {
 public:
  explicit Nearest(const std::vector<Rgb>& palette) : palette_(palette), known_(kBins, -1) {}

  std::uint8_t operator()(const std::uint8_t* rgb) {
    int& known = known_[bin_of(rgb)];
    if (known >= 0) return static_cast<std::uint8_t>(known);
    int least = 1 << 30;
    for (std::size_t k = 0; k < palette_.size(); ++k) {
      int distance = 0;
      for (int c = 0; c < 3; ++c) {
        const int d = ((rgb[c] & 0xf8) | 4) - palette_[k][c];
        distance += d * d;
      }
      if (distance < least) least = distance, known = static_cast<int>(k);
    }
    return static_cast<std::uint8_t>(known);
  }

 private:
  const std::vector<Rgb>& palette_;
  std::vector<int> known_;
};

void put16(std::string& out, int value) {
  out += static_cast<char>(value & 255);
  out += static_cast<char>(value >> 8 & 255);
}

/// LZW with codes of 9 to 12 bits, in blocks of 255 bytes.
void put_pixels(std::string& out, const std::vector<std::uint8_t>& pixels) {
  constexpr int kClear = 256, kEnd = 257, kMost = 4096;
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0, width = 9, next = kEnd + 1;
  const auto put = [&](int code) {
    held |= static_cast<std::uint32_t>(code) << bits;
    for (bits += width; bits >= 8; bits -= 8, held >>= 8) bytes += static_cast<char>(held & 255);
  };
  // what follows a code by one more pixel
  std::vector<std::int16_t> follow(static_cast<std::size_t>(kMost) * 256, -1);
  std::vector<std::size_t> used;
  put(kClear);
  int prefix = pixels.empty() ? kEnd : pixels[0];
  for (std::size_t k = 1; k < pixels.size(); ++k) {
    const std::size_t at = static_cast<std::size_t>(prefix) << 8 | pixels[k];
    if (follow[at] >= 0) {
      prefix = follow[at];
      continue;
    }
    put(prefix);
    if (next < kMost) {
      follow[at] = static_cast<std::int16_t>(next);
      used.push_back(at);
      if (next++ == 1 << width) ++width;
    } else {
      put(kClear);
      for (const std::size_t u : used) follow[u] = -1;
      used.clear();
      next = kEnd + 1, width = 9;
    }
    prefix = pixels[k];
  }
  if (!pixels.empty()) put(prefix);
  put(kEnd);
  if (bits > 0) bytes += static_cast<char>(held & 255);
  out += static_cast<char>(8);
  for (std::size_t at = 0; at < bytes.size(); at += 255) {
    const std::size_t size = std::min<std::size_t>(255, bytes.size() - at);
    out += static_cast<char>(size);
    out.append(bytes, at, size);
  }
  out += '\0';
}

/// Frames by several threads, as many at once.
std::vector<Image> drawn(const std::vector<int>& which, const std::function<Image(int)>& frame) {
  std::vector<std::future<Image>> futures;
  for (const int k : which) futures.push_back(std::async(std::launch::async, frame, k));
  std::vector<Image> images;
  for (std::future<Image>& future : futures) images.push_back(future.get());
  return images;
}

}  // namespace

std::string gif(int frames, int delay, const std::function<Image(int)>& frame) {
  if (frames < 1) throw std::invalid_argument("an animation needs at least one frame");
  Histogram seen;
  int width = 0, height = 0;
  const int probes = std::min(kProbes, frames);
  for (int k = 0; k < probes; ++k) {
    const Image image = frame(k * (frames - 1) / std::max(1, probes - 1));
    width = image.width, height = image.height;
    seen.add(image);
  }
  const std::vector<Rgb> palette = palette_of(seen);
  Nearest nearest(palette);

  std::string out = "GIF89a";
  put16(out, width), put16(out, height);
  out += "\xf7";  // a palette of 256 for all
  out += std::string(2, '\0');
  for (int k = 0; k < kPalette; ++k) {
    for (int c = 0; c < 3; ++c)
      out += static_cast<char>(k < static_cast<int>(palette.size()) ? palette[k][c] : 0);
  }
  out += std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);  // for ever
  std::vector<std::uint8_t> pixels;
  const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
  for (int from = 0; from < frames; from += threads) {
    std::vector<int> which;
    for (int k = from; k < std::min(frames, from + threads); ++k) which.push_back(k);
    for (const Image& image : drawn(which, frame)) {
      pixels.clear();
      for (std::size_t p = 0; p + 2 < image.rgb.size(); p += 3)
        pixels.push_back(nearest(&image.rgb[p]));
      out += std::string("\x21\xf9\x04\x04", 4);
      put16(out, delay);
      out += std::string("\0\0\x2c\0\0\0\0", 7);
      put16(out, width), put16(out, height);
      out += '\0';
      put_pixels(out, pixels);
    }
  }
  return out + '\x3b';
}

}  // namespace routh::io

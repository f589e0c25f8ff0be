// What figures are made of: thinned curves, ticks whose labels have room, the data beside a figure.

#include "routh/io/gnuplot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace routh::io {
namespace {

Series read(const std::string& block) {
  std::istringstream lines(block.substr(block.find('\n') + 1));
  Series series;
  for (std::string line; std::getline(lines, line) && line != "EOD";) {
    double x = NAN, y = NAN;
    std::istringstream(line) >> x >> y;
    series.emplace_back(x, y);
  }
  return series;
}

TEST(Curves, AFastSwingKeepsItsExtremesEverywhere) {
  Series series;
  for (int k = 0; k <= 200'000; ++k) {
    const double x = 1e-3 * k;
    series.emplace_back(x, (1 + 0.01 * x) * std::sin(7.3 * x));
  }
  const Series drawn = read(curve_block("c", series));
  EXPECT_LT(drawn.size(), 5000u);
  EXPECT_EQ(drawn.front().first, 0);
  EXPECT_EQ(drawn.back().first, 200);
  EXPECT_TRUE(
      std::is_sorted(drawn.begin(), drawn.end(), [](auto a, auto b) { return a.first < b.first; }));
  // in every two seconds, twice a period and more, both extremes are there
  for (double from = 0; from < 198; from += 2) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const auto& [x, y] : drawn) {
      if (x >= from && x <= from + 2) low = std::min(low, y), high = std::max(high, y);
    }
    EXPECT_GT(high, 0.999 * (1 + 0.01 * from));
    EXPECT_LT(low, -0.999 * (1 + 0.01 * from));
  }
}

TEST(Curves, ShortOnesAreWholeAndBreaksStay) {
  const Series series{{0, 1}, {1, NAN}, {2, 3}};
  EXPECT_EQ(curve_block("c", series), "$c << EOD\n0 1\n\n2 3\nEOD\n");
  // many at one place, and some that are nowhere
  Series many(10'000, {2, 5});
  many[17].second = std::numeric_limits<double>::infinity();
  many[4000].second = 9;
  const Series drawn = read(curve_block("c", many));
  EXPECT_LT(drawn.size(), 10u);
  EXPECT_TRUE(std::any_of(drawn.begin(), drawn.end(), [](auto p) { return p.second == 9; }));
}

TEST(Ticks, LabelsHaveRoomOnAnyRange) {
  for (const double size : {1e-9, 3.3e-5, 0.027, 1.0, 812.0, 4e7}) {
    for (const double shift : {-1.0, -0.3, 0.0, 5.0}) {
      for (const double pixels : {120.0, 330.0, 900.0}) {
        const double low = size * shift, high = low + size;
        const double step = tick(low, high, pixels, true);
        const double room = pixels * step / size;
        const std::size_t letters =
            std::max(fmt::format("{:.6g}", step * std::ceil(low / step)).size(),
                     fmt::format("{:.6g}", step * std::floor(high / step)).size());
        EXPECT_GE(step, tick(low, high));
        if (step < size) {
          EXPECT_GT(room, 7 * static_cast<double>(letters)) << low << " " << pixels;
        }
        const double lead = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
        EXPECT_TRUE(std::abs(lead - 1) < 1e-6 || std::abs(lead - 2) < 1e-6 ||
                    std::abs(lead - 5) < 1e-6 || std::abs(lead - 10) < 1e-6)
            << step;
      }
    }
  }
}

TEST(PgfplotsData, HoldsNumbersAloneUnderNamesThatTexTakes) {
  EXPECT_EQ(
      pgfplots_data("set x\n$law0 << EOD\n1 2\n\n-3e-4 4\n\nEOD\n$names << EOD\n1 \\input{a}\n"
                    "EOD\n$none << EOD\nEOD\nplot $law0\n$z12 << EOD\n1 2 3\nEOD\n"),
      "\\pgfplotstableread{\nx y\n1 2\nnan nan\n-3e-4 4\n}{\\routhlawa}\n"
      "\\pgfplotstableread{\nx y z\n1 2 3\n}{\\routhzbc}\n");
  EXPECT_EQ(pgfplots_data(""), "");
  EXPECT_EQ(pgfplots_data("$open << EOD\n1 2"), "\\pgfplotstableread{\nx y\n1 2\n}{\\routhopen}\n");
}

}  // namespace
}  // namespace routh::io

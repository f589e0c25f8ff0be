#pragma once

#include <algorithm>
#include <cmath>
#include <span>

/// Which method serves which size: the numbers that decide it, in one place, with what was
/// measured. Times are of one core; what decides is how they compare.
/// What StepSolver does when its first guess fails is its own matter and stands in
/// step_solver_ways.cc.
///
/// **Every outcome of the simultaneous law.** Modes tried one by one cost 3 to 7 µs each; the
/// search solve_all() cuts whole branches by linear programs of 2 to 30 µs and finds the same,
/// continua included (tests/impact/solve_all_test.cc holds one against the other). Twenty random
/// problems each, mean of modes and processor time:
///
///   contacts            modes    one by one       search
///   1, plane                4         13 µs        16 µs
///   2, plane               14         47 µs        40 µs
///   3, plane               55        240 µs       110 µs
///   4, plane              206        1.1 ms       0.26 ms
///   5, plane              646        4.6 ms       0.49 ms
///   1, eight edges         14         39 µs        23 µs
///   2, eight edges        266        1.1 ms       0.13 ms
///   10, plane            1e6             -        4 to 50 ms
///   quadruped, 4         1e5             -        2.5 ms      (278 programs)
///   box lands, 8        1e10             -         19 ms      (1 481)
///   biped, 8            1e10             -        0.3 s       (15 793)
///   gripper, 12         1e15             -        0.1 s, then given up: programs cost as rows⁴
///   tower, 21           2e26             -        1.2 s, then given up
namespace routh::policy {

/// Up to so many modes are tried one by one ..
inline constexpr double kTried = 20;
/// .. and up to so many where rounding leaves a branch of the search undecided.
inline constexpr double kTriedAfter = 2'000;

/// Programs of a search before it is given up, about a second; that many up to eight contacts in
/// space, fewer of larger ones, which cost as the fourth power of the rows.
inline constexpr int kPrograms = 20'000;
inline int programs(int most, double rows) {
  return std::max(1, static_cast<int>(most / std::pow(std::max(1.0, rows / 24), 4)));
}

/// With circular cones so much more: two feet of four corners take 23 000 programs, four feet of a
/// quadruped 70, two or three contacts 45 to 140. Of 960 random problems of three to six contacts
/// all but six were searched to the end.
inline constexpr double kArcs = 1.5;

/// Random starts of solve_one() where the search was given up; one costs about m³.
inline constexpr int kAttempts = 200;
inline int attempts(int most, int m) { return std::min(most, std::max(4, 100'000 / (m * m * m))); }
/// And where a search that came to its end found nothing: what comes closest.
inline constexpr int kAttemptsForNothing = 4;

/// Edges of the polygons whose outcomes lead to those of a circular cone, where arcs are not
/// searched to the end. Of 357 outcomes that were
/// found of 300 random problems of one to three contacts, those of 8 edges lead to 348, of 12 to
/// 354, of both to 354, of all four to 357, in 0.4, 0.4, 0.9 and 1.9 ms; with many contacts each
/// search may take its second, so that two have to do.
inline constexpr int kPolygons[] = {8, 12, 16, 20};
inline std::span<const int> polygons(int m) { return {kPolygons, m <= 4 ? 4u : 2u}; }

/// **Samples of the set.** In the plane walks read a table of all modes, up to 7^m: 2 401 modes of
/// four contacts take 0.16 s once, then a step tens of nanoseconds. The 16 807 of five contacts
/// (kMaxWalkContacts of walk.h) are the most. In space a step among the 1 225 modes of two contacts
/// costs 6 µs, one solution 0.7 µs; three contacts have 42 875 modes.
inline constexpr double kTabulated = 20'000;
inline constexpr double kTabulatedInSpace = 2'000;
/// Walks with restitution ask the table at every bend of the path: three contacts.
inline constexpr double kTabulatedBounces = 400;
/// Contacts up to which a step that no regular mode solves is enumerated (343 modes, 5 ms); beyond
/// it Lemke's algorithm has to do (9 µs, but one solution).
inline constexpr int kTriedInWalks = 3;
/// Walks that tell which hyperplanes of the table are useful; more say nothing new.
inline int trial_walks(int m) { return m <= 3 ? 128 : 32; }

/// **Orders of single impacts.** Distinct velocities explored: an impact in the plane takes a
/// microsecond, in space an integration of 30 to 220 µs, two to six contacts.
inline int states(int tangents, int m) {
  return tangents == 1 ? 20'000 : std::max(100, 80'000 / (m * m));
}
/// Contacts up to which all cyclic orders follow where these were too few: 720 and 24 of them.
inline int cyclic_orders(int tangents) { return tangents == 1 ? 6 : 4; }

/// **Is the outcome unique?** About a second for each law, by counts alone, so that the answer is
/// the same every time. Measured on scenarios of 5 to 21 contacts: a step of a sample costs as the
/// number of modes where these are enumerated, else as m³.
inline double judged_states(double m) { return 40'000 / (m * m); }
inline double judged_samples(double modes, double m) {
  return 0x1p18 / (modes <= kTabulated ? modes / 16 : m * m * m);
}

/// And their step, a part of what stops the fastest contact: samples err by about as much of the
/// velocities. A step costs 50 ns with two contacts in the plane, tens of microseconds with five or
/// in space.
inline double judged_step(int tangents, double m) {
  return tangents == 1 && m <= 3 ? 1.0 / 64 : 1.0 / 4;
}

/// **Exact sets.** Contacts they are tried for at all, and those whose other laws give a second
/// opinion that costs nothing beside them.
inline constexpr int kExact = 100, kExactInSpace = 2, kSecondOpinion = 3;
/// And contacts in the plane up to which every question whether an outcome is unique asks for the
/// exact set, within a budget of so many polyhedra.
inline constexpr int kQuickSet = 3, kQuickPolyhedra = 500;

/// **Hybrid executions** try every mode of the contacts that touch: five rough ones at rest (4^5),
/// thirteen smooth ones; beyond that they refuse.
inline constexpr double kHybridModes = 10'000;

}  // namespace routh::policy

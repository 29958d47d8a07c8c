//! The built-in scenes: worked examples, each checked by tests.

/// A scene that comes with the library.
#[derive(Copy, Clone, Debug)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line: what it shows.
    pub summary: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! scenes {
    ($($name:literal: $summary:literal,)*) => {
        &[$(BuiltIn { name: $name, summary: $summary, text: include_str!(concat!("../scenes/", $name, ".toml")) },)*]
    };
}

/// All built-in scenes.
pub const ALL: &[BuiltIn] = scenes! {
    "double-pendulum": "two rods on hinges",
    "double-pendulum-rods": "two particles on massless rods",
    "simple-pendulum": "IFToMM A01: a particle on a rod, from the horizontal",
    "four-bar": "IFToMM A02: a row of n four-bar windows through their singular positions",
    "bricard": "six hinges in an overconstrained loop that moves all the same",
    "andrews": "Andrews' squeezing mechanism (Bari test set)",
    "car-axis": "the car axis (Bari test set): a prescribed road, springs, an axle",
    "heavy-top": "a fast top on a fixed point, nodding as it precesses",
    "heavy-top-directors": "a top described by directors, a deformable body kept rigid",
    "free-body": "a free asymmetric body that tumbles about its middle axis",
    "rolling-disc": "a thin disc rolling without slip in a steady circle",
    "sleigh": "Chaplygin's sleigh: a knife edge that may not slip sideways",
    "chain": "a chain of n links on hinges",
    "chain-tree": "the same chain in minimal coordinates, as one tree of links",
    "four-bar-tree": "one four-bar window as a tree whose loop is closed by a joint",
    "andrews-tree": "Andrews' squeezing mechanism as a tree with three loops",
    "stewart": "a Stewart platform: a plate on six legs, each a tree of two links",
    "finger": "three bones and a tendon: a cable through points, coupled joints, stops that are struck",
    "two-bodies": "a planet on an ellipse about a star",
    "oscillator": "a mass on a spring, exact at every step by sines of its own frequency",
    "kepler": "a planet about a fixed sun for a hundred turns, by sines of estimated frequency",
    "solar-system": "the sun, its planets and the moon from an ephemeris, in steps of one day",
    "fpu": "a chain of soft and stiff springs in turn, the stiff ones in micro steps",
    "atomistic": "slow and fast atoms with stiff springs and rigid links on a micro grid",
    "pendulum-lie": "a physical pendulum as one unit quaternion, by a Lie group variational integrator",
    "leech": "a leech of five segments that hits a rough wall, sticks, bends and lifts off",
    "leech-frictionless": "the same leech on a smooth wall",
    "bouncing-ball": "a ball that bounces ever faster and comes to rest",
    "block-on-belt": "a block on a spring and a moving belt: stick and slip",
    "bowling-ball": "a ball that slides, then rolls",
    "cradle": "Newton's cradle",
    "leech-free": "a leech of five segments that flies freely and twitches",
    "leech-21": "a leech of 21 segments, each with its own volume, through which a wave runs",
    "crawling": "a leech that crawls by waves of contraction, with a sucker at each end",
    "swimming": "a leech that swims by waves of bending in a viscous medium",
    "cube-slide": "a rigid cube falls from an edge on a field of contact forces, without friction",
    "cube-rock": "the same with friction: it rocks",
    "cylinder-bounce": "a rigid cylinder bounces on a field of contact forces, without friction",
    "cylinder-roll": "the same with friction: it spins up and rolls",
    "stick-ceiling": "a body sticks to a ceiling by adhesion until its load has grown",
    "stick-wall": "a body sticks to a wall by adhesion until its load has grown",
    "soft-bounce": "a soft cylinder bounces and vibrates",
    "soft-roll": "a soft cylinder is thrown and rolls",
    "jumper": "a contractile body jumps, driven by a couple",
    "crawler": "a contractile body crawls, driven by a turning pulse",
    "crawler-frictionless": "the same without friction stays where it is",
    "climber": "a contractile body climbs a slope, held by adhesion",
    "soft-cube": "a soft cube tumbles in space",
    "soft-ball": "a contractile ball rolls along a curve in space",
    "duffing-a": "Duffing's oscillator with a periodic motion",
    "duffing-b": "Duffing's oscillator with a chaotic motion",
    "mathieu": "a pendulum whose hinge moves up and down: parametric excitation",
    "rotor": "a disc on a gimbal with gyroscopic and circulatory forces",
    "shaft": "a disc on a turning shaft with unequal stiffness: parametric excitation",
    "quarter-car-random": "a quarter of a car for random vibration",
    "impact-oscillator": "a driven mass that rebounds from a wall",
    "chaos-pendulum": "three bodies that swing without a rule",
    "rimless-wheel": "a wheel of spokes rolls down a slope, strike by strike",
    "simplest-walker": "two legs without mass walk down a slope",
    "compass-walker": "two stiff legs walk down a slope",
    "kneed-walker": "legs with knees walk down a slope: knee strike and heel strike",
    "five-body-walker": "legs with knees and an upper body that balances walk down a slope",
};

/// The scene that `dalembert new` writes.
pub const STARTER: &str = include_str!("../scenes/starter.toml");

/// The built-in scene of a name.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|scene| scene.name == name)
}

//! The built-in studies, with their scenes.

/// A study that comes with the library.
#[derive(Copy, Clone, Debug)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// One line: what it shows.
    pub summary: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl BuiltIn {
    /// The file of its scene, name and text; nothing if it is a built-in scene.
    pub fn scene(&self) -> Option<(&'static str, &'static str)> {
        let mentioned = |name: &str| self.text.contains(&format!("scene = \"{name}\""));
        SCENES.iter().copied().find(|(name, _)| mentioned(name))
    }
}

macro_rules! studies {
    ($($name:literal: $summary:literal,)*) => {
        &[$(BuiltIn { name: $name, summary: $summary, text: include_str!(concat!("../../studies/", $name, ".toml")) },)*]
    };
}

macro_rules! scenes {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../studies/", $name))),)*]
    };
}

/// All built-in studies.
pub const ALL: &[BuiltIn] = studies! {
    "swing-up": "a cart swings its pole up with least effort",
    "double-pendulum-swing-up": "a double pendulum is swung up by its two hinges",
    "four-body-chain": "four bodies with two hinges and a ball joint, straight to closed, rest to rest under gravity",
    "pareto-chain": "the same chain: all best compromises between effort and time",
    "parallel-parking": "a sleigh on a blade goes sideways, to and fro",
    "five-bar": "a closed chain carries its hand from place to place, without multipliers",
    "jump": "a jumper pushes off, flies, lands and comes to rest",
    "reach": "an arm of seven hinges reaches behind a sphere",
};

const SCENES: &[(&str, &str)] = scenes! {
    "cart-pole.scene.toml",
    "double-pendulum.scene.toml",
    "four-body-chain.scene.toml",
    "sleigh.scene.toml",
    "arm.scene.toml",
    "five-bar.scene.toml",
    "jumper.scene.toml",
};

/// The study of a name.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|study| study.name == name)
}

/// The scene of a built-in study.
pub fn scene(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

//! Which channels share a plot.
//!
//! A channel's name goes from the general to the particular. Its last word tells components of one vector apart
//! (`body.upper.position.x`), or quantities of one thing (`energy.kinetic`). Channels with the same name up to there
//! and the same unit share a plot; plots of one body, joint or force share a section.

use dalembert_methods::trajectory::Channel;

use super::theme::CURVES;

/// One plot: its title and its curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The thing it belongs to, such as `body.upper`; plots of one thing stand together.
    pub section: String,
    /// What it shows, such as `position`.
    pub title: String,
    /// Unit of all its channels.
    pub unit: String,
    /// Names of the channels to draw.
    pub channels: Vec<String>,
    /// What the key calls them; made from the names of the channels if empty.
    pub names: Vec<String>,
    /// Names of the channels to draw with an axis at the right.
    pub right: Vec<String>,
    /// Unit of those.
    pub right_unit: String,
    /// What the key calls those.
    pub right_names: Vec<String>,
    /// Whether magnitudes are drawn on a logarithmic axis.
    pub log: bool,
    /// First time to show, s; all if none.
    pub from: Option<f64>,
    /// Last time to show, s; all if none.
    pub until: Option<f64>,
}

/// First words of channel names in the order their sections appear in.
const ORDER: [&str; 9] =
    ["energy", "momentum", "residual", "body", "joint", "constraint", "force", "contact", "signal"];

impl Panel {
    /// The part of a channel's name that the section and title do not already say.
    pub fn short_name(&self, channel: &str) -> String {
        let after = |text: &'_ str, prefix: &str| -> Option<String> {
            text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned)
        };
        let rest = after(channel, &self.section).unwrap_or_else(|| channel.to_owned());
        after(&rest, &self.title).unwrap_or(rest).replace('.', " ")
    }

    /// The curves: channel, name in the key, and whether its axis is at the right.
    pub fn curves(&self) -> impl Iterator<Item = (&str, String, bool)> {
        let side = |channels: &'_ [String], names: &'_ [String], right: bool| -> Vec<(usize, String, bool)> {
            let name =
                |(i, channel): (usize, &String)| names.get(i).cloned().unwrap_or_else(|| self.short_name(channel));
            channels.iter().enumerate().map(|pair| (pair.0, name(pair), right)).collect()
        };
        let left = side(&self.channels, &self.names, false);
        let right = side(&self.right, &self.right_names, true);
        left.into_iter().chain(right).map(|(i, name, is_right)| {
            let channels = if is_right { &self.right } else { &self.channels };
            (channels[i].as_str(), name, is_right)
        })
    }

    /// The first word of the section.
    pub fn kind(&self) -> &str {
        self.section.split('.').next().unwrap_or_default()
    }
}

/// A plot for every channel but time, grouped as a reader would.
pub fn automatic_panels(channels: &[Channel]) -> Vec<Panel> {
    let mut groups: Vec<Panel> = Vec::new();
    let mut known: std::collections::HashMap<(String, String, String), usize> = std::collections::HashMap::new();
    for channel in channels.iter().filter(|c| c.name != Channel::TIME) {
        let (section, title) = parts(&channel.name);
        let key = (section.to_owned(), title.to_owned(), channel.unit.clone());
        let index = *known.entry(key).or_insert_with(|| {
            groups.push(Panel {
                section: section.to_owned(),
                title: title.to_owned(),
                unit: channel.unit.clone(),
                log: channel.name.contains("residual"),
                ..Panel::default()
            });
            groups.len() - 1
        });
        groups[index].channels.push(channel.name.clone());
    }
    let mut panels: Vec<Panel> = groups.into_iter().flat_map(finished).collect();
    let rank = |panel: &Panel| ORDER.iter().position(|kind| *kind == panel.kind()).unwrap_or(ORDER.len());
    panels.sort_by_key(rank);
    panels
}

/// Section and title of a channel; the title is empty where several quantities of one thing may share a plot.
fn parts(name: &str) -> (&str, &str) {
    let Some((parent, last)) = name.rsplit_once('.') else {
        return ("", "");
    };
    let component = matches!(last, "w" | "x" | "y" | "z") || last.parse::<u32>().is_ok();
    match parent.rsplit_once('.') {
        Some((section, title)) if component => (section, title),
        _ if component => (parent, parent),
        _ => (parent, ""),
    }
}

/// Gives a group its title and splits it if it has more curves than can be told apart.
fn finished(group: Panel) -> Vec<Panel> {
    let several = group.channels.len() > CURVES;
    let split = group.channels.chunks(CURVES).enumerate().map(|(i, names)| {
        let mut panel = Panel { channels: names.to_vec(), ..group.clone() };
        if panel.title.is_empty() {
            let short: Vec<String> = names.iter().map(|name| panel.short_name(name)).collect();
            panel.title = match short.as_slice() {
                [one] => one.clone(),
                [one, two] => format!("{one}, {two}"),
                _ if panel.section.is_empty() => "channels".to_owned(),
                _ => panel.section.replace('.', " "),
            };
        }
        if several {
            panel.title = format!("{} ({})", panel.title, i + 1);
        }
        panel
    });
    split.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels(names: &[(&str, &str)]) -> Vec<Panel> {
        let channels: Vec<Channel> = names.iter().map(|(name, unit)| Channel::new(*name, *unit, "world")).collect();
        automatic_panels(&channels)
    }

    #[test]
    fn vectors_and_energies_share_plots() {
        let found = panels(&[
            ("time", "s"),
            ("body.upper.position.x", "m"),
            ("body.upper.position.y", "m"),
            ("body.upper.velocity.x", "m/s"),
            ("joint.hinge.angle", "rad"),
            ("energy.kinetic", "J"),
            ("energy.potential", "J"),
            ("energy.total", "J"),
            ("residual.position", "m"),
        ]);
        let short: Vec<(&str, &str, usize, bool)> =
            found.iter().map(|p| (p.section.as_str(), p.title.as_str(), p.channels.len(), p.log)).collect();
        assert_eq!(
            short,
            [
                ("energy", "energy", 3, false),
                ("residual", "position", 1, true),
                ("body.upper", "position", 2, false),
                ("body.upper", "velocity", 1, false),
                ("joint.hinge", "angle", 1, false),
            ]
        );
        assert_eq!(found[2].short_name("body.upper.position.y"), "y");
        assert_eq!(found[0].short_name("energy.kinetic"), "kinetic");
    }

    #[test]
    fn no_plot_has_more_curves_than_can_be_told_apart() {
        let names: Vec<String> = (0..20).map(|i| format!("rod.arm.strain.{i}")).collect();
        let names: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
        let found = panels(&names);
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|p| p.channels.len() <= CURVES));
        assert_eq!(found[1].title, "strain (2)");
        assert_eq!(panels(&[("height", "m"), ("depth", "m")])[0].title, "height, depth");
    }
}

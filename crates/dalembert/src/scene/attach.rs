//! The markers that elements of a scene name: one by one, by patterns, or as a whole body.

use super::Entry;
use super::assemble::Reader;
use super::nearest;
use crate::model::{Need, Orientation};
use crate::run::matches;
use serde::Deserialize;

impl Reader<'_> {
    /// The markers an element names under its key: one name, or a list of names.
    pub(super) fn attached(&mut self, entry: &Entry<'_>, need: Need) -> Option<Vec<usize>> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Names {
            One(String),
            Many(Vec<String>),
        }
        let expected = match need.count {
            Some(1) => "the name of a marker, like \"body.marker\"".to_owned(),
            Some(n) => format!("the names of {n} markers, like [\"body.marker\", …]"),
            None => "a list of markers, like [\"body.marker\", …]".to_owned(),
        };
        let Some(node) = entry.node().get(need.key) else {
            let message = format!("missing key `{}`: {expected}", need.key);
            self.problems.extend(entry.error("", message, None));
            return None;
        };
        let names = match entry.deserialize_key::<Names>(need.key) {
            Ok(Names::One(name)) if need.count == Some(1) => vec![name],
            Ok(Names::Many(names)) if need.count != Some(1) || need.affine => names,
            _ => {
                let message = format!("expected {expected}, found {}", node.value.describe());
                self.problems.extend(entry.error(need.key, message, None));
                return None;
            }
        };
        // A body stands for the four markers of its affine frame, unless all of them are named.
        let spread = need.affine && need.count == Some(names.len());
        if !spread && need.markers().is_some_and(|count| count != names.len()) {
            let message = format!("expected {expected}, found {}", names.len());
            self.problems.extend(entry.error(need.key, message, None));
            return None;
        }
        let mut found = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let single = need.count == Some(1) && names.len() == 1;
            let path = if single { need.key.to_owned() } else { format!("{}[{i}]", need.key) };
            if spread && i + 1 == names.len() {
                found.extend(self.affine_frame(entry, &path, name)?);
                continue;
            }
            if need.count.is_none() && name.contains('*') {
                for name in self.matching(entry, &path, name)? {
                    found.push(self.marker(entry, &path, &name)?);
                }
            } else {
                found.push(self.marker(entry, &path, name)?);
            }
        }
        Some(found)
    }

    /// The four markers of a body's affine frame.
    fn affine_frame(&mut self, entry: &Entry<'_>, path: &str, name: &str) -> Option<[usize; 4]> {
        let Some(&body) = self.bodies.get(name) else {
            // Says what is wrong with the name, unless it is that of a marker.
            self.marker(entry, path, name)?;
            let message = format!("`{name}` is a marker, but the deformation of a whole body is needed");
            self.problems.extend(entry.error(path, message, Some("name a body, or four markers")));
            return None;
        };
        if !self.builder.bodies()[body].item.extended() {
            let kind = self.builder.bodies()[body].item.kind();
            let message = format!("`{name}` is a {kind}, a single point that cannot deform");
            self.problems.extend(entry.error(path, message, Some("name four of them")));
            return None;
        }
        let frame = self.builder.insert_affine_frame(body);
        self.markers.entry(name.to_owned()).or_insert(frame[0]);
        Some(frame)
    }

    /// The bodies and markers whose names match a pattern, in the order of the scene.
    fn matching(&mut self, entry: &Entry<'_>, path: &str, pattern: &str) -> Option<Vec<String>> {
        let bodies = self.builder.bodies().iter().map(|body| &body.name);
        let markers = self.builder.markers().iter().map(|marker| &marker.name);
        let mut names: Vec<String> = Vec::new();
        for name in bodies.chain(markers).filter(|name| matches(pattern, name)) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        if names.is_empty() && !self.unmade.iter().any(|start| pattern.starts_with(start.as_str())) {
            let message = format!("no marker or body matches `{pattern}`");
            self.problems.extend(entry.error(path, message, None));
        }
        (!names.is_empty()).then_some(names)
    }

    /// The marker of a name; the name of a body stands for its own frame.
    fn marker(&mut self, entry: &Entry<'_>, path: &str, name: &str) -> Option<usize> {
        if let Some(&number) = self.markers.get(name) {
            return Some(number);
        }
        if let Some(&body) = self.bodies.get(name) {
            let number = self.builder.insert_marker("", body, [0.0; 3], Orientation::default());
            self.markers.insert(name.to_owned(), number);
            return Some(number);
        }
        let unmade = self.unmade.iter().any(|start| name.starts_with(start.as_str()));
        if unmade || name.split('.').next().is_some_and(|body| self.broken.contains(body)) {
            return None;
        }
        let candidates = self.markers.keys().chain(self.bodies.keys()).map(String::as_str);
        let mut known: Vec<&str> = candidates.collect();
        known.sort_unstable();
        let help = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
        self.problems.extend(entry.error(path, format!("there is no marker or body `{name}`"), help.as_deref()));
        None
    }
}

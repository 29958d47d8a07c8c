//! Which comparisons are asked for: those of a scene, with what is said anew in the place of what they say.

use dalembert::expression::nearest;
use dalembert::scene::{ComparisonSettings, MethodSettings, Scene, Take};

/// What is said anew. What is empty stays as the scene has it.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Comparisons by their names; all if there are none.
    pub comparison: Vec<String>,
    /// Methods in the place of those of the scene.
    pub method: Vec<MethodSettings>,
    /// What is varied.
    pub vary: Option<String>,
    /// Its values.
    pub values: Vec<f64>,
    /// What errors are taken of.
    pub channel: Vec<String>,
    /// When.
    pub take: Option<Take>,
    /// When runs end, in s.
    pub until: Option<f64>,
    /// The run to compare with; closed forms of the scene count no more then.
    pub reference: Option<MethodSettings>,
    /// Closed forms of channels.
    pub exact: Vec<(String, String)>,
}

impl Wanted {
    /// Whether formulas of the scene's own methods count.
    pub fn own_methods(&self) -> bool {
        self.method.is_empty()
    }

    /// The comparisons of a scene with what is said here, by their names.
    ///
    /// # Errors
    /// Names that the scene does not have.
    pub fn of(&self, scene: &Scene) -> Result<Vec<(String, ComparisonSettings)>, String> {
        let names: Vec<&str> = scene.comparisons.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(unknown) = self.comparison.iter().find(|name| !names.contains(&name.as_str())) {
            let near = nearest(unknown, names.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
            let all = if names.is_empty() {
                "; the scene has none".to_owned()
            } else {
                format!("; there are {}", names.join(", "))
            };
            return Err(format!("there is no comparison `{unknown}`{}", near.unwrap_or(all)));
        }
        let chosen = |name: &String| self.comparison.is_empty() || self.comparison.contains(name);
        let mut all: Vec<_> = scene.comparisons.iter().filter(|(name, _)| chosen(name)).cloned().collect();
        // Methods and values of one's own are one comparison, whatever the scene has.
        if all.is_empty() || (!self.method.is_empty() && self.comparison.is_empty()) {
            all = vec![("comparison".to_owned(), ComparisonSettings::default())];
        }
        all.iter_mut().for_each(|(_, settings)| self.say(settings));
        Ok(all)
    }

    /// Puts what is said here in the place of what a comparison says.
    fn say(&self, settings: &mut ComparisonSettings) {
        if !self.method.is_empty() {
            settings.methods.clone_from(&self.method);
        }
        if let Some(vary) = &self.vary {
            settings.vary.clone_from(vary);
            settings.methods.iter_mut().for_each(|method| method.vary.clear());
        }
        if !self.values.is_empty() {
            settings.values.clone_from(&self.values);
            settings.methods.iter_mut().for_each(|method| method.values.clear());
        }
        if !self.channel.is_empty() {
            settings.channels.clone_from(&self.channel);
        }
        settings.take = self.take.unwrap_or(settings.take);
        settings.until = self.until.or(settings.until);
        if self.reference.is_some() {
            settings.reference.clone_from(&self.reference);
            settings.exact.clear();
        }
        settings.exact.extend(self.exact.iter().cloned());
    }
}

//! The front as a picture: points of each kind in a colour of their own, those that others dominate as rings, those that are shown as motions in squares.

use crate::analyse::page::Field;
use dalembert::report::svg::{Anchor, Form, Svg};
use dalembert_optimise::pareto::Front;

/// Colours of kinds; the last one of the theme is that of samples.
pub const KINDS: usize = 5;
const SAMPLES: usize = 5;
/// Kinds that the key names.
const NAMED: usize = 12;

/// Two goals of a front over each other.
pub struct Scatter<'a> {
    /// The front.
    pub front: &'a Front,
    /// The goal along the horizontal axis and the one along the vertical axis.
    pub goals: [usize; 2],
    /// The points whose motions are shown.
    pub shown: &'a [usize],
}

impl Scatter<'_> {
    /// The picture.
    pub fn draw(&self, form: Form) -> String {
        let Self { front, goals, shown } = self;
        let at = |y: &[f64]| goals.map(|k| y[k]);
        let points: Vec<[f64; 2]> = front.points.iter().map(|p| at(&p.solution.goals)).collect();
        let most = points.iter().fold([f64::NEG_INFINITY; 2], |m, p| [m[0].max(p[0]), m[1].max(p[1])]);
        let least = points.iter().fold([f64::INFINITY; 2], |m, p| [m[0].min(p[0]), m[1].min(p[1])]);
        // Samples far from the front would squeeze it into a corner.
        let near = |p: &[f64; 2]| (0..2).all(|k| p[k] <= most[k] + 0.5 * (most[k] - least[k]).max(0.1 * most[k].abs()));
        let samples: Vec<[f64; 2]> = front.samples.iter().map(|y| at(y)).filter(near).collect();
        let kinds = front.kinds();
        let names: Vec<String> = (0..kinds.min(NAMED)).map(|kind| self.name(kind)).collect();
        let title = format!("{} over {}", front.goals[goals[1]], front.goals[goals[0]]);
        let top = 50.0 + 16.0 * names.len() as f64;
        let field = Field::around(points.iter().chain(&samples), top);
        let mut svg = Svg::new(form, Field::WIDTH, field.height(), &title);
        svg.text("title", [Field::LEFT, 18.0], Anchor::Start, &title);
        for (kind, name) in names.iter().enumerate() {
            let y = 36.0 + 16.0 * kind as f64;
            mark(&mut svg, [Field::LEFT + 8.0, y - 3.5], kind % KINDS, true);
            svg.text("key", [Field::LEFT + 20.0, y], Anchor::Start, name);
        }
        let note = "filled: not dominated; rings: dominated; squares: motions shown; small dots: feasible samples";
        svg.text("mark", [Field::LEFT, 36.0 + 16.0 * names.len() as f64], Anchor::Start, note);
        field.draw(&mut svg, &front.goals[goals[0]]);
        for place in samples.iter().filter_map(|p| field.place(p)) {
            circle(&mut svg, &format!("f{SAMPLES}"), place, 1.3);
        }
        // Dominated points first: what counts lies on top.
        for best in [false, true] {
            for (point, place) in front.points.iter().zip(&points).filter(|(point, _)| point.global == best) {
                if let Some(place) = field.place(place) {
                    mark(&mut svg, place, point.kind % KINDS, best);
                }
            }
        }
        for &k in *shown {
            if let Some([x, y]) = field.place(&points[k]) {
                let side = 13.0;
                svg.leaf(
                    "rect",
                    &[
                        ("class", (&format!("wire c{}", front.points[k].kind % KINDS)).into()),
                        ("x", (x - 0.5 * side).into()),
                        ("y", (y - 0.5 * side).into()),
                        ("width", side.into()),
                        ("height", side.into()),
                    ],
                );
            }
        }
        svg.finish()
    }

    fn name(&self, kind: usize) -> String {
        let own = || self.front.points.iter().filter(|p| p.kind == kind);
        format!("kind {}: {} points, {} not dominated", kind + 1, own().count(), own().filter(|p| p.global).count())
    }
}

/// A point: filled, or a ring.
fn mark(svg: &mut Svg, place: [f64; 2], colour: usize, filled: bool) {
    let class = if filled { format!("f{colour}") } else { format!("wire c{colour}") };
    circle(svg, &class, place, if filled { 3.2 } else { 2.6 });
}

fn circle(svg: &mut Svg, class: &str, [x, y]: [f64; 2], radius: f64) {
    svg.leaf("circle", &[("class", class.into()), ("cx", x.into()), ("cy", y.into()), ("r", radius.into())]);
}

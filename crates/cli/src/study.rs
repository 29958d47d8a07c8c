//! `dalembert study`: inverse kinematics, inverse dynamics of a motion, static equilibrium; vibrations and motions are in [`crate::analyse`].

use crate::analyse::{self, Followed, Reach};
use crate::args::Study;
use crate::eval::numbers;
use crate::exit::Exit;
use crate::robot::{self, read_text, write_or_print};
use dalembert_analysis::motion::ExponentOptions;
use dalembert_analysis::place::{Place, word};
use dalembert_methods::stability::stability;
use dalembert_methods::system::System;
use dalembert_methods::vector::Vec3;
use dalembert_robots::studies::{Target, inverse_dynamics, inverse_kinematics};
use dalembert_trees::{Pose, Tree};
use std::path::Path;

/// The tolerance that options of contacts follow.
const CONTACTS: f64 = 1e-9;
/// The search for an equilibrium ends at this part of the size of the system.
const BALANCE: f64 = 1e-12;

/// Makes a study.
pub fn study(study: &Study) -> Result<(), Exit> {
    match study {
        Study::InverseKinematics { model, targets, tolerance, out } => {
            let robot = robot::load(model)?;
            let table = Table::read(targets)?;
            let rows: Vec<Vec<Target>> = (0..table.rows.len()).map(|k| table.targets(k)).collect::<Result<_, _>>()?;
            let found = inverse_kinematics(&robot.tree, &robot.initial, &rows, *tolerance)
                .map_err(|e| Exit::Usage(format!("{}: {e}", targets.display())))?;
            let mut text = format!("time,q.{}\n", robot.tree.coordinate_names().join(",q."));
            for (k, q) in found.iter().enumerate() {
                text += &format!("{:?},{}\n", table.time(k), numbers(q));
            }
            write_or_print(out.as_deref(), &text)
        }
        Study::InverseDynamics { model, motion, out } => {
            let robot = robot::load(model)?;
            let table = Table::read(motion)?;
            if !table.columns.iter().any(|c| c == "time") {
                return Err(Exit::Usage(format!("{}: a motion needs the column `time`", motion.display())));
            }
            let times: Vec<f64> = (0..table.rows.len()).map(|k| table.time(k)).collect();
            let states = table.configurations(&robot.tree, &robot.initial)?;
            let found = inverse_dynamics(&robot.tree, &times, &states)
                .map_err(|e| Exit::Usage(format!("{}: {e}", motion.display())))?;
            let names = robot.tree.velocity_names();
            let head: Vec<String> =
                ["v", "a", "tau"].iter().flat_map(|p| names.iter().map(move |n| format!("{p}.{n}"))).collect();
            let mut text = format!("time,q.{},{}\n", robot.tree.coordinate_names().join(",q."), head.join(","));
            for (k, row) in found.iter().enumerate() {
                let all = [&states[k][..], &row.v, &row.a, &row.tau].concat();
                text += &format!("{:?},{}\n", times[k], numbers(&all));
            }
            write_or_print(out.as_deref(), &text)
        }
        Study::Equilibrium { model, here } => {
            let scene = robot::scene(model)?;
            let start = scene.model.initial_state();
            let failed = |error: &dyn std::fmt::Display| Exit::Usage(error.to_string());
            let contacts = scene.run.contacts.options(CONTACTS);
            let mut text = String::new();
            let place = if *here {
                Place::start(&scene.model, &start, &contacts).map_err(|e| failed(&e))?
            } else {
                let (place, found) =
                    Place::equilibrium(&scene.model, &start, BALANCE, &contacts).map_err(|e| failed(&e))?;
                text += &format!(
                    "equilibrium after {} steps, largest force left {:.1e}\n",
                    found.iterations, found.residual
                );
                place
            };
            let state = &place.state;
            let mut q = state.q.iter();
            for body in scene.model.bodies() {
                let own: Vec<f64> = q.by_ref().take(body.item.coordinates()).copied().collect();
                if !own.is_empty() {
                    text += &format!("body.{}: {}\n", body.name, numbers(&own));
                }
            }
            for touch in place.touches(&scene.model) {
                text += &format!(
                    "{}: {}, gap {:.3e} m, press {:?} N, friction {:?} N\n",
                    touch.name,
                    word(touch.mode),
                    touch.gap,
                    touch.press,
                    touch.friction
                );
            }
            let held = place.system(&scene.model);
            if !held.loads().is_empty() {
                text += "friction of what slides has no potential: `study linearise` tells whether this is stable\n";
                return crate::print(&text);
            }
            let found = stability(&held, state).map_err(|e| failed(&e))?;
            let verdict = match (found.unstable(), found.neutral()) {
                (0, 0) => "stable".to_owned(),
                (0, n) => format!("neutral in {n} directions"),
                (n, _) => format!("unstable in {n} directions"),
            };
            text += &format!("{verdict}; squared angular frequencies in 1/s²: {}\n", numbers(&found.squared));
            if found.skew > 1e-9 {
                text += &format!(
                    "forces have a part without potential ({:.1e} of all): stability without damping is not decided by these numbers\n",
                    found.skew
                );
            }
            crate::print(&text)
        }
        Study::Linearise { model, place, along, count } => match along {
            Some(time) => analyse::along(model, place, *time, *count),
            None => analyse::linearise(model, place),
        },
        Study::Modes { model, place, normalise, shown } => analyse::modes(model, place, normalise, *shown),
        Study::Transition { model, place, at } => analyse::transition(model, place, *at),
        Study::FrequencyResponse { model, place, force, measure, from, to, count } => {
            analyse::frequency_response(model, place, force, measure, [*from, *to], *count)
        }
        Study::PeriodicResponse { model, place, force, measure, period, samples } => {
            analyse::periodic_response(model, place, force, measure, *period, *samples)
        }
        Study::Covariance { model, place, noise, residual, sparse: true, .. } => {
            analyse::sparse_covariance(model, place, noise, *residual)
        }
        Study::Covariance { model, place, noise, filter, at, from, to, .. } => {
            analyse::covariance(model, place, noise, filter, *at, [*from, *to])
        }
        Study::Floquet { model, period: p } => {
            analyse::multipliers(model, p.period, p.settle, false, p.tolerance, p.out.as_deref())
        }
        Study::LimitCycle { model, period, settle, tolerance, stride, out } => match period {
            Some(period) => analyse::multipliers(model, *period, *settle, true, *tolerance, out.as_deref()),
            None => analyse::limit_cycle(model, stride, *tolerance, out.as_deref()),
        },
        Study::Shoot { model, shot, stride, tolerance, out } => {
            analyse::shoot(model, shot, stride, *tolerance, out.as_deref())
        }
        Study::Lyapunov { model, interval, transient, batch, batches, motions, result } => {
            let choice =
                ExponentOptions { interval: *interval, transient: *transient, batch: *batch, batches: *batches };
            analyse::lyapunov(model, &choice, *motions, result.tolerance, result.out.as_deref())
        }
        Study::Poincare { model, section, result } => {
            analyse::poincare(model, section, result.tolerance, result.out.as_deref())
        }
        Study::Spectrum { model, coordinate, positions, interval, samples, segment, window, settle, result } => {
            let counts = [*samples, *segment];
            let out = result.out.as_deref();
            analyse::spectrum(
                model,
                (coordinate, *positions),
                *interval,
                counts,
                window,
                *settle,
                result.tolerance,
                out,
            )
        }
        Study::Portrait { model, strobe: s, result } => {
            let counts = [s.settle, s.points];
            analyse::portrait(model, &s.coordinate, s.period, counts, result.tolerance, result.out.as_deref())
        }
        Study::Continuation { model, range: r, period, stride, settle, points, step, result } => {
            let out = result.out.as_deref();
            let step = step.unwrap_or((r.to - r.from).abs() / 40.0).abs() * (r.to - r.from).signum();
            let reach = Reach { range: [r.from, r.to], points: *points, step };
            let followed = match period {
                Some(period) => Followed::Period(period, *settle),
                None if stride.strike.is_empty() => Followed::Equilibrium,
                None => Followed::Gait(stride),
            };
            analyse::continuation(model, &r.parameter, &followed, reach, result.tolerance, out)
        }
        Study::Chart { model, chart, out } => analyse::chart(model, chart, out.as_deref()),
        Study::Basin { model, basin, out } => analyse::basin(model, basin, out.as_deref()),
        Study::WorkPrecision { model, work, out } => analyse::work_precision(model, work, out.as_deref()),
        Study::Bifurcation { model, range: r, count, section, result } => {
            let spacing = (r.to - r.from) / (*count).max(2).saturating_sub(1) as f64;
            let values: Vec<f64> = (0..*count).map(|k| r.from + spacing * k as f64).collect();
            analyse::bifurcation(model, &r.parameter, &values, section, result.tolerance, result.out.as_deref())
        }
    }
}

/// A table of numbers with named columns.
struct Table {
    file: String,
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(path: &Path) -> Result<Self, Exit> {
        let (text, file) = (read_text(path)?, path.display().to_string());
        let mut lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
        let (_, head) = lines.next().ok_or_else(|| Exit::Usage(format!("{file}: the table is empty")))?;
        let columns: Vec<String> = head.split(',').map(|c| c.trim().to_owned()).collect();
        let mut rows = Vec::new();
        for (number, line) in lines {
            let wrong = |message: String| Exit::Usage(format!("{file}, line {}: {message}", number + 1));
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            if cells.len() != columns.len() {
                return Err(wrong(format!("{} numbers for {} columns", cells.len(), columns.len())));
            }
            let number = |cell: &&str| {
                let x = cell.parse::<f64>().ok().filter(|x| x.is_finite());
                x.ok_or_else(|| wrong(format!("`{cell}` is not a finite number")))
            };
            rows.push(cells.iter().map(number).collect::<Result<Vec<f64>, Exit>>()?);
        }
        Ok(Self { file, columns, rows })
    }

    fn time(&self, row: usize) -> f64 {
        self.columns.iter().position(|c| c == "time").map_or(row as f64, |i| self.rows[row][i])
    }

    /// The coordinates of every row, by the names of the tree.
    fn configurations(&self, tree: &Tree, initial: &[f64]) -> Result<Vec<Vec<f64>>, Exit> {
        let names = tree.coordinate_names();
        let mut places = Vec::new();
        for (i, column) in self.columns.iter().enumerate().filter(|(_, c)| *c != "time") {
            let found = column.strip_prefix("q.").and_then(|name| names.iter().position(|n| n == name));
            let k = found.ok_or_else(|| {
                Exit::Usage(format!(
                    "{}: column `{column}`: expected time or q.NAME of {}",
                    self.file,
                    names.join(", ")
                ))
            })?;
            places.push((i, k));
        }
        let row = |values: &Vec<f64>| {
            let mut q = initial.to_vec();
            places.iter().for_each(|&(i, k)| q[k] = values[i]);
            q
        };
        Ok(self.rows.iter().map(row).collect())
    }

    /// The targets of a row.
    fn targets(&self, row: usize) -> Result<Vec<Target>, Exit> {
        let mut links: Vec<&str> = Vec::new();
        for column in self.columns.iter().filter(|c| *c != "time") {
            let link =
                column.rsplit_once('.').filter(|(_, part)| ["x", "y", "z", "qw", "qx", "qy", "qz"].contains(part));
            let (link, _) = link.ok_or_else(|| {
                Exit::Usage(format!(
                    "{}: column `{column}`: expected time, LINK.x … LINK.z or LINK.qw … LINK.qz",
                    self.file
                ))
            })?;
            if !links.contains(&link) {
                links.push(link);
            }
        }
        let value = |link: &str, part: &str| {
            self.columns.iter().position(|c| *c == format!("{link}.{part}")).map(|i| self.rows[row][i])
        };
        let target = |link: &str| -> Result<Target, Exit> {
            let missing =
                || Exit::Usage(format!("{}: link `{link}` needs all of x, y, z, or of qw, qx, qy, qz", self.file));
            let position = ["x", "y", "z"].map(|p| value(link, p));
            let turn = ["qw", "qx", "qy", "qz"].map(|p| value(link, p));
            let position = match position {
                [Some(x), Some(y), Some(z)] => Some(Vec3([x, y, z])),
                [None, None, None] => None,
                _ => return Err(missing()),
            };
            let rotation = match turn {
                [Some(w), Some(x), Some(y), Some(z)] if w * w + x * x + y * y + z * z > 1e-12 => {
                    Some(Pose::of_quaternion([w, x, y, z], [0.0; 3]).rotation)
                }
                [None, None, None, None] => None,
                _ => return Err(missing()),
            };
            Ok(Target { link: link.to_owned(), point: Vec3::zero(), position, rotation })
        };
        links.into_iter().map(target).collect()
    }
}

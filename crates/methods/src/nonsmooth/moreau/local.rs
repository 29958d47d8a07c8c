//! One contact in its turn of a sweep: its impulse against given motions, solved exactly.

use super::super::contacts::Contacts;

/// Iterations for the direction of slip of one contact with two tangents.
const TURNS: usize = 60;

/// An active contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub contact: usize,
    /// Its first row among the rows of contacts, and its tangents.
    pub row: usize,
    pub tangents: usize,
    /// Its first line in the list of lines.
    pub line: usize,
    /// Its own part of the Delassus matrix.
    pub own: [[f64; 3]; 3],
    /// ε γ̇⁻.
    pub rebound: f64,
    /// The impulse of suction, in N s.
    pub pull: f64,
    /// The impulse of a press of its own, in N s.
    pub press: Option<f64>,
    /// The speed of slip before the step, in m/s.
    pub speed: f64,
}

/// The same for a contact with one tangent under a press of its own.
fn brake<Y: Contacts>(model: &Y, a: &Active, slip: f64, press: f64) -> ([f64; 3], bool) {
    if a.own[1][1] <= 0.0 {
        return ([press, 0.0, 0.0], true);
    }
    let held = -slip / a.own[1][1];
    if model.excess(a.contact, [held, 0.0], press) <= 0.0 {
        return ([press, held, 0.0], true);
    }
    // Sliding friction that exceeds what stops the slip stops it.
    let force = press * model.sliding(a.contact, [slip.signum(), 0.0], a.speed)[0];
    if force.abs() >= held.abs() { ([press, held, 0.0], true) } else { ([press, force, 0.0], false) }
}

/// The impulse of one contact that leaves y = own P + c complementary to it, and whether it sticks.
pub(super) fn local<Y: Contacts>(model: &Y, a: &Active, c: [f64; 3]) -> ([f64; 3], bool) {
    if let Some(press) = a.press {
        return brake(model, a, c[1], press);
    }
    if c[0] >= 0.0 || a.own[0][0] <= 0.0 {
        return ([0.0; 3], false);
    }
    if a.tangents == 0 {
        return ([-c[0] / a.own[0][0], 0.0, 0.0], false);
    }
    let held = stick(a, c);
    if held[0] > 0.0 && model.excess(a.contact, [held[1], held[2]], held[0]) <= 0.0 {
        return (held, true);
    }
    let slide = |direction: [f64; 2]| -> Option<([f64; 3], [f64; 2])> {
        let phi = model.sliding(a.contact, direction, a.speed);
        let rise = a.own[0][0] + a.own[0][1] * phi[0] + a.own[0][2] * phi[1];
        if rise <= 1e-12 * a.own[0][0] {
            return None;
        }
        let n = -c[0] / rise;
        let p = [n, n * phi[0], n * phi[1]];
        let motion = |k: usize| c[k] + (0..3).fold(0.0, |sum, l| sum + a.own[k][l] * p[l]);
        Some((p, [motion(1), if a.tangents > 1 { motion(2) } else { 0.0 }]))
    };
    if a.tangents == 1 {
        for sign in [1.0, -1.0] {
            if let Some((p, u)) = slide([sign, 0.0])
                && u[0] * sign >= 0.0
            {
                return (p, false);
            }
        }
        return if held[0] > 0.0 { (held, true) } else { ([0.0; 3], false) };
    }
    // The sine of the angle from the direction assumed to the slip it leads to, by bisection between two signs of it.
    let miss = |angle: f64| {
        let (sine, cosine) = angle.sin_cos();
        slide([cosine, sine]).map(|(p, u)| (u[1] * cosine - u[0] * sine, u[0] * cosine + u[1] * sine, p))
    };
    let guess = c[2].atan2(c[1]);
    let turn = std::f64::consts::TAU / 16.0;
    let mut best = None;
    for k in 0..16 {
        let low = guess + turn * (k as f64 - 0.5);
        if let (Some(left), Some(right)) = (miss(low), miss(low + turn))
            && left.0 > 0.0
            && right.0 <= 0.0
        {
            let (mut low, mut high) = (low, low + turn);
            let mut last = right;
            for _ in 0..TURNS {
                let middle = 0.5 * (low + high);
                let Some(now) = miss(middle) else { break };
                last = now;
                if now.0 > 0.0 { low = middle } else { high = middle }
            }
            if last.1 >= 0.0 {
                best = Some(last.2);
                break;
            }
        }
    }
    match best {
        Some(p) => (p, false),
        None if held[0] > 0.0 => (held, true),
        None => ([0.0; 3], false),
    }
}

/// The impulse that leaves no motion at all.
fn stick(a: &Active, c: [f64; 3]) -> [f64; 3] {
    let n = a.tangents + 1;
    let (mut m, mut x) = (a.own, c.map(|c| -c));
    for k in 0..n {
        if m[k][k] <= 0.0 {
            return [0.0; 3];
        }
        for i in k + 1..n {
            let factor = m[i][k] / m[k][k];
            for l in k..n {
                m[i][l] -= factor * m[k][l];
            }
            x[i] -= factor * x[k];
        }
    }
    for k in (0..n).rev() {
        x[k] = ((k + 1)..n).fold(x[k], |sum, l| sum - m[k][l] * x[l]) / m[k][k];
    }
    x[n..].fill(0.0);
    x
}

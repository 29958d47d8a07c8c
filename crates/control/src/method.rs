//! The transcriptions: how a motion becomes finitely many numbers.

/// How the motion within one interval is made finite.
///
/// | Method | Unknowns | Order | Controls |
/// |---|---|---|---|
/// | `Dmocc` | configurations at nodes | 2 | constant on an interval |
/// | `Midpoint` | configurations and velocities at nodes | 2 | constant on an interval |
/// | `Lobatto { stages }` | those, and inner stages | 2 (stages − 1) | a polynomial through the stages |
/// | `Shooting { steps }` | configurations and velocities at nodes | 4 | linear on an interval |
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Discrete mechanics and optimal control with constraints: the discrete Lagrange–d'Alembert principle with the midpoint rule.
    Dmocc,
    /// The implicit midpoint rule, in the form of inverse dynamics.
    Midpoint,
    /// Collocation at Lobatto points with this many stages: two are the trapezoidal rule, three are Hermite–Simpson. Accelerations at the
    /// stages are unknowns, tied to forces in the form of inverse dynamics.
    Lobatto {
        /// Stages, both ends among them; at least two.
        stages: usize,
    },
    /// The same with accelerations computed from forces inside the kernel, in place of unknowns. For small systems.
    LobattoExplicit {
        /// Stages, both ends among them; at least two.
        stages: usize,
    },
    /// Multiple shooting: steps of the classical Runge–Kutta method within each interval.
    Shooting {
        /// Steps in each interval.
        steps: usize,
    },
}

/// How `Dmocc` treats holonomic constraints. Both have the same motions; without constraints there is no difference.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Multipliers at the nodes are unknowns, which leave with the factorisation of the band: small kernels, whatever the number of constraints.
    #[default]
    Multipliers,
    /// Momenta are balanced along the directions that the constraints allow: no multipliers, as many equations as freedoms. For few constraints, such as the loops of a tree.
    NullSpace,
}

impl Form {
    /// Reads the name a study gives: `multipliers` or `null-space`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "multipliers" => Some(Self::Multipliers),
            "null-space" => Some(Self::NullSpace),
            _ => None,
        }
    }
}

impl Method {
    /// The trapezoidal rule.
    pub const TRAPEZOIDAL: Self = Self::Lobatto { stages: 2 };
    /// Hermite–Simpson collocation.
    pub const HERMITE_SIMPSON: Self = Self::Lobatto { stages: 3 };

    /// The order of convergence in the length of intervals for smooth problems without constraints.
    pub fn order(self) -> usize {
        match self {
            Self::Dmocc | Self::Midpoint => 2,
            Self::Lobatto { stages } | Self::LobattoExplicit { stages } => 2 * (stages - 1),
            Self::Shooting { .. } => 4,
        }
    }

    /// Reads the name a study gives: `dmocc`, `midpoint`, `trapezoidal`, `hermite_simpson`, `lobatto-5`, `shooting-4`.
    pub fn parse(name: &str) -> Option<Self> {
        let counted = |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.parse::<usize>().ok());
        Some(match name {
            "dmocc" => Self::Dmocc,
            "midpoint" => Self::Midpoint,
            "trapezoidal" => Self::TRAPEZOIDAL,
            "hermite_simpson" => Self::HERMITE_SIMPSON,
            _ => {
                if let Some(stages) = counted("lobatto-").filter(|n| (2..=12).contains(n)) {
                    Self::Lobatto { stages }
                } else {
                    Self::Shooting { steps: counted("shooting-").filter(|n| (1..=1000).contains(n))? }
                }
            }
        })
    }

    /// The name a study gives.
    pub fn name(self) -> String {
        match self {
            Self::Dmocc => "dmocc".into(),
            Self::Midpoint => "midpoint".into(),
            Self::TRAPEZOIDAL => "trapezoidal".into(),
            Self::HERMITE_SIMPSON => "hermite_simpson".into(),
            Self::Lobatto { stages } => format!("lobatto-{stages}"),
            Self::LobattoExplicit { stages } => format!("lobatto-{stages} (explicit accelerations)"),
            Self::Shooting { steps } => format!("shooting-{steps}"),
        }
    }
}

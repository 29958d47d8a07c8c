"""Made by ``python/stubs.py`` from the registry of the library; not to be changed by hand."""

from typing import Any, Callable, Dict, Literal, Mapping, Optional, Sequence, Union, overload

from .arrays import Array
from .scene import Table

__all__ = ["Elements", "Number", "Numbers", "registry"]

Number = Union[float, str]
"""A number, or a formula as ``"= 2*length"``."""
Numbers = Union[Sequence[Any], Array]

def registry() -> Dict[str, Any]: ...

class Elements:
    @overload
    def body(
        self,
        name: str,
        *,
        kind: Literal["affine"],
        shape: Any,
        density: Number,
        markers: Mapping[str, Any] = ...,
        position: Numbers = ...,
        orientation: Union[Numbers, Mapping[str, Any]] = ...,
        gradient: Numbers = ...,
        velocity: Numbers = ...,
        angular_velocity: Numbers = ...,
        gradient_rate: Numbers = ...,
    ) -> Table:
        """A body that deforms homogeneously, with markers at any material point."""

    @overload
    def body(
        self,
        name: str,
        *,
        kind: Literal["affine_plane"],
        shape: Any,
        density: Number,
        markers: Mapping[str, Any] = ...,
        plane: Any = ...,
        position: Numbers = ...,
        angle: Number = ...,
        gradient: Numbers = ...,
        velocity: Numbers = ...,
        angular_velocity: Number = ...,
        gradient_rate: Numbers = ...,
    ) -> Table:
        """A prism that deforms homogeneously in a plane."""

    @overload
    def body(
        self,
        name: str,
        *,
        kind: Literal["ground"],
        markers: Mapping[str, Any] = ...,
        shape: Any = ...,
    ) -> Table:
        """A fixed frame: no coordinates, takes any force."""

    @overload
    def body(
        self,
        name: str,
        *,
        kind: Literal["isochoric_plane"],
        shape: Any,
        density: Number,
        markers: Mapping[str, Any] = ...,
        plane: Any = ...,
        position: Numbers = ...,
        angle: Number = ...,
        gradient: Numbers = ...,
        velocity: Numbers = ...,
        angular_velocity: Number = ...,
        gradient_rate: Numbers = ...,
    ) -> Table:
        """A prism that deforms homogeneously in a plane and keeps its volume, without a constraint."""

    @overload
    def body(
        self,
        name: str,
        *,
        kind: Literal["particle"],
        mass: Number,
        markers: Mapping[str, Any] = ...,
        shape: Any = ...,
        position: Numbers = ...,
        velocity: Numbers = ...,
    ) -> Table:
        """A mass at a point, without orientation."""

    @overload
    def body(
        self,
        name: str,
        *,
        kind: Literal["rigid"],
        mass: Number,
        inertia: Any,
        markers: Mapping[str, Any] = ...,
        shape: Any = ...,
        centre: Numbers = ...,
        position: Numbers = ...,
        orientation: Union[Numbers, Mapping[str, Any]] = ...,
        velocity: Numbers = ...,
        angular_velocity: Numbers = ...,
    ) -> Table:
        """A rigid body with mass, inertia and orientation."""

    @overload
    def body(
        self,
        name: str,
        *,
        kind: Literal["tree"],
        links: Numbers,
        markers: Mapping[str, Any] = ...,
        shape: Any = ...,
        slip: Number = ...,
        stop_stiffness: Number = ...,
        stop_damping: Number = ...,
        stop_restitution: Number = ...,
    ) -> Table:
        """Links connected by joints to a tree, in minimal coordinates; one body with markers on every link."""

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["cylindrical"],
        between: Numbers,
        axis: Numbers = ...,
        axis_b: Numbers = ...,
    ) -> Table:
        """A sleeve on a shaft: two frames share an axis, angle and travel are free."""

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["fixed"],
        between: Numbers,
    ) -> Table:
        """A weld: two frames coincide in position and orientation."""

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["planar"],
        between: Numbers,
        axis: Numbers = ...,
        axis_b: Numbers = ...,
    ) -> Table:
        """A plate on a table: two shifts in a plane and the angle about its normal are free."""

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["prismatic"],
        between: Numbers,
        axis: Numbers = ...,
        axis_b: Numbers = ...,
    ) -> Table:
        """A slider: two frames of fixed relative orientation share an axis, the travel along it is free."""

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["revolute"],
        between: Numbers,
        axis: Numbers = ...,
        axis_b: Numbers = ...,
    ) -> Table:
        """A hinge: two frames share a point and an axis, the angle about it is free."""

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["screw"],
        between: Numbers,
        pitch: Number,
        axis: Numbers = ...,
        axis_b: Numbers = ...,
    ) -> Table:
        """A nut on a thread: two frames share an axis, the travel along it follows the angle about it."""

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["spherical"],
        between: Numbers,
    ) -> Table:
        """A ball and socket: two points coincide, all rotations are free."""

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["universal"],
        between: Numbers,
        axis: Numbers = ...,
        axis_b: Numbers = ...,
    ) -> Table:
        """A Cardan joint: two frames share a point, an axis of one stays at right angles to an axis of the other."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["cable_length"],
        markers: Numbers,
        length: Number = ...,
    ) -> Table:
        """A taut cable of constant length through points, straight between neighbours."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["coordinate_speed"],
        between: Numbers,
        of: Any,
        speed: Number,
        axis: Numbers = ...,
    ) -> Table:
        """A motor: the speed of an angle or a travel between two frames follows a signal."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["coupling"],
        markers: Numbers,
        terms: Numbers,
        offset: Number = ...,
    ) -> Table:
        """Angles and travels of joints of which a sum of polynomials is constant: mimic joints, cams, racks."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["disc_on_plane"],
        between: Numbers,
        radius: Number,
        axle: Numbers = ...,
        normal: Numbers = ...,
    ) -> Table:
        """The rim of a thin disc around the second marker touches a plane through the first; it may slip."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["distance"],
        between: Numbers,
        length: Number,
    ) -> Table:
        """A massless rod: keeps two points at a fixed distance."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["gear"],
        between: Numbers,
        teeth: Numbers,
        axes: Numbers = ...,
        wheel_axes: Numbers = ...,
        offset: Number = ...,
    ) -> Table:
        """Two toothed wheels on a carrier: their angles go as the numbers of teeth, exactly over any number of turns."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["gear_ratio"],
        between: Numbers,
        ratio: Number,
        axes: Numbers = ...,
    ) -> Table:
        """Two wheels on a carrier whose speeds have a fixed real ratio: friction wheels, belts."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["incompressible"],
        on: Union[str, Numbers],
        volume: Number,
        contraction: Any = ...,
    ) -> Table:
        """Keeps the volume of a body that deforms homogeneously; its multiplier is the pressure."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["knife_edge"],
        between: Numbers,
        across: Numbers = ...,
    ) -> Table:
        """A blade at the second marker: it does not move sideways on the body of the first."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["no_slip"],
        between: Numbers,
        directions: Numbers,
        fixed_in: Any = ...,
        speeds: Numbers = ...,
    ) -> Table:
        """The second marker does not slip on the body of the first along given directions (or slips with given speeds)."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["point_on_line"],
        between: Numbers,
        axis: Numbers = ...,
    ) -> Table:
        """Keeps the second marker on a line through the first."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["point_on_plane"],
        between: Numbers,
        normal: Numbers = ...,
    ) -> Table:
        """Keeps the second marker in a plane through the first."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["prescribed_angle"],
        between: Numbers,
        angle: Number,
        axis: Numbers = ...,
        axis_b: Numbers = ...,
    ) -> Table:
        """The angle between two frames about an axis follows a signal, through any number of turns."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["prescribed_distance"],
        between: Numbers,
        length: Number,
    ) -> Table:
        """A massless rod or winch whose length follows a signal."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["prescribed_position"],
        between: Numbers,
        directions: Numbers,
        values: Numbers,
    ) -> Table:
        """Components of the position of the second marker in the first frame follow signals."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["rolling_disc"],
        between: Numbers,
        radius: Number,
        axle: Numbers = ...,
        normal: Numbers = ...,
    ) -> Table:
        """A thin disc around the second marker rolls on a plane through the first without slip (together with `disc_on_plane`)."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["rolling_sphere"],
        between: Numbers,
        radius: Number,
        normal: Numbers = ...,
    ) -> Table:
        """A sphere around the second marker rolls on a plane through the first without slip (together with `sphere_on_plane`)."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["sphere_on_plane"],
        between: Numbers,
        radius: Number,
        normal: Numbers = ...,
    ) -> Table:
        """A sphere around the second marker touches a plane through the first; it may slip."""

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["volume"],
        markers: Numbers,
        volume: Number = ...,
        cell: Any = ...,
    ) -> Table:
        """Keeps the total volume of cells between points, or lets it follow a signal; its multiplier is the pressure."""

    @overload
    def contact(
        self,
        name: str,
        *,
        kind: Literal["cylinder"],
        between: Numbers,
        size: Number,
        axis: Numbers = ...,
        inside: bool = ...,
        radius: Number = ...,
        restitution: Number = ...,
        friction: Any = ...,
        suction: Number = ...,
    ) -> Table:
        """A cylinder or pipe that points, or balls around them, cannot enter (or leave)."""

    @overload
    def contact(
        self,
        name: str,
        *,
        kind: Literal["height_field"],
        between: Numbers,
        height: str,
        radius: Number = ...,
        restitution: Number = ...,
        friction: Any = ...,
        suction: Number = ...,
    ) -> Table:
        """Uneven ground z = h(x, y) that points, or small balls around them, cannot pass."""

    @overload
    def contact(
        self,
        name: str,
        *,
        kind: Literal["plane"],
        between: Numbers,
        normal: Numbers = ...,
        offset: Number = ...,
        belt: Number = ...,
        radius: Number = ...,
        restitution: Number = ...,
        friction: Any = ...,
        suction: Number = ...,
        hollow: Number = ...,
    ) -> Table:
        """A plane that points, or balls around them, cannot pass."""

    @overload
    def contact(
        self,
        name: str,
        *,
        kind: Literal["sphere"],
        between: Numbers,
        size: Number,
        inside: bool = ...,
        radius: Number = ...,
        restitution: Number = ...,
        friction: Any = ...,
        suction: Number = ...,
    ) -> Table:
        """A sphere that points, or balls around them, cannot enter (or leave)."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["actuator"],
        between: Numbers,
        force: Number,
    ) -> Table:
        """A force along the line between two points, given by a signal."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["applied_force"],
        at: str,
        force: Numbers,
        axes: Any = ...,
    ) -> Table:
        """A force on a point, given by signals, in world or marker axes."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["applied_torque"],
        at: str,
        torque: Numbers,
        axes: Any = ...,
    ) -> Table:
        """A torque on a frame, given by signals, in world or marker axes."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["cable"],
        markers: Numbers,
        stiffness: Number = ...,
        damping: Number = ...,
        rest: Numbers = ...,
        pull: Number = ...,
        limits: Numbers = ...,
    ) -> Table:
        """A cable through points: straight between neighbours, with stiffness, damping and a given pull."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["contact_field"],
        between: Numbers,
        shape: Any,
        normal: Numbers = ...,
        offset: Number = ...,
        strength: Number = ...,
        repulsion: Any = ...,
        damping: Any = ...,
        friction: Any = ...,
        coulomb: Any = ...,
        adhesion: Any = ...,
    ) -> Table:
        """Short-range fields between a body and a plane support: repulsion, damping, friction, adhesion."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["drag"],
        at: str,
        linear: Number = ...,
        quadratic: Number = ...,
        medium_velocity: Numbers = ...,
    ) -> Table:
        """Linear and quadratic drag of a medium, at rest or moving, on a point."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["dry_friction"],
        between: Numbers,
        of: Any,
        size: Number,
        axis: Numbers = ...,
    ) -> Table:
        """Dry friction of given size on the angle or the travel between two frames, which sticks and slips."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["edge_drag"],
        between: Numbers,
        normal: Number = ...,
        tangential: Number = ...,
        normal_quadratic: Number = ...,
        tangential_quadratic: Number = ...,
        medium_velocity: Numbers = ...,
    ) -> Table:
        """Drag of a medium on the edge between two points, different along and across it."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["elastic"],
        on: Union[str, Numbers],
        volume: Number,
        material: Any,
        bulk: Number = ...,
        viscosity: Number = ...,
        contraction: Any = ...,
        resistance: Number = ...,
    ) -> Table:
        """Elastic and viscous stress of a body that deforms homogeneously, with contraction."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["gravitation"],
        markers: Numbers,
        masses: Numbers = ...,
        parameters: Numbers = ...,
        constant: Number = ...,
        softening: Number = ...,
    ) -> Table:
        """Newtonian attraction between all of its markers."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["joint_tendon"],
        markers: Numbers,
        pulleys: Numbers,
        stiffness: Number = ...,
        damping: Number = ...,
        rest: Numbers = ...,
        pull: Number = ...,
        limits: Numbers = ...,
    ) -> Table:
        """A tendon over joints, whose length is a sum of their coordinates, with stiffness, damping and a given pull."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["linear_motor"],
        between: Numbers,
        axis: Numbers = ...,
        force: Number = ...,
        travel: Number = ...,
        stiffness: Number = ...,
        damping: Number = ...,
        limits: Numbers = ...,
    ) -> Table:
        """A force between two frames along an axis: a signal, a servo that holds a travel, or both, within limits."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["motor"],
        between: Numbers,
        axis: Numbers = ...,
        torque: Number = ...,
        angle: Number = ...,
        stiffness: Number = ...,
        damping: Number = ...,
        limit: Number = ...,
        limits: Numbers = ...,
    ) -> Table:
        """A torque between two frames about an axis: a signal, a servo that holds an angle, or both, within a limit."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["muscle"],
        between: Numbers,
        activation: Number,
        stiffness: Number = ...,
        rest_length: Number = ...,
        damping: Number = ...,
        active: Any = ...,
        passive: Any = ...,
        force_velocity: Any = ...,
    ) -> Table:
        """A muscle between two points: an active spring with activation, a passive law and a damper."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["nonlinear_spring"],
        between: Numbers,
        law: Any,
        rest_length: Number = ...,
        damping: Number = ...,
    ) -> Table:
        """A spring between two points whose tension is a polynomial, a table or a formula."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["rotational_spring"],
        between: Numbers,
        axis: Numbers = ...,
        stiffness: Number = ...,
        damping: Number = ...,
        rest_angle: Number = ...,
    ) -> Table:
        """A rotational spring and damper between two frames about an axis of the first."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["spring"],
        between: Numbers,
        stiffness: Number = ...,
        damping: Number = ...,
        rest_length: Number = ...,
    ) -> Table:
        """A linear spring and damper between two points."""

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["callback"],
        function: Callable[..., Any],
        at: Optional[str] = ...,
        markers: Optional[Sequence[str]] = ...,
        states: Optional[Numbers] = ...,
        vectorised: bool = ...,
    ) -> Table:
        """A force whose function is written in Python."""

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["constant"],
        value: Number,
    ) -> Table:
        """Always the same value."""

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["expression"],
        value: str,
    ) -> Table:
        """An expression in the time t, given as text."""

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["harmonic"],
        amplitude: Number,
        frequency: Number = ...,
        angular_frequency: Number = ...,
        phase: Number = ...,
        offset: Number = ...,
    ) -> Table:
        """A sine with amplitude, frequency, phase and offset."""

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["polynomial"],
        coefficients: Numbers,
        start: Number = ...,
    ) -> Table:
        """A polynomial in the time since a start."""

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["smooth_step"],
        to: Number,
        end: Number,
        from_: Number = ...,
        start: Number = ...,
    ) -> Table:
        """From one value to another with continuous velocity and acceleration (quintic)."""

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["table"],
        times: Numbers,
        values: Numbers,
        interpolation: Any = ...,
        slopes: Numbers = ...,
        outside: Any = ...,
    ) -> Table:
        """A curve through given times and values: a cubic spline or straight lines."""

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["callback"],
        function: Callable[..., Any],
        derivatives: Optional[Sequence[Callable[..., Any]]] = ...,
        vectorised: bool = ...,
    ) -> Table:
        """A signal whose function is written in Python."""

    @overload
    def assembly(
        self,
        name: str,
        *,
        kind: Literal["skeleton"],
        segments: Number,
        length: Number = ...,
        lengths: Numbers = ...,
        half_widths: Numbers = ...,
        section: Numbers = ...,
        taper: Any = ...,
        position: Numbers = ...,
        orientation: Union[Numbers, Mapping[str, Any]] = ...,
        velocity: Numbers = ...,
        angular_velocity: Numbers = ...,
        density: Number = ...,
        corner_mass: Number = ...,
        longitudinal: Any = ...,
        circular: Any = ...,
        dorsoventral: Any = ...,
        oblique: Any = ...,
        compartments: Any = ...,
        volume: Number = ...,
        shape: Any = ...,
        drag: Any = ...,
    ) -> Table:
        """A hydrostatic skeleton: segments of masses, muscles along and around, and volumes of fluid inside."""

    @overload
    def assembly(
        self,
        name: str,
        *,
        kind: Literal["soft"],
        shape: Any,
        density: Number,
        mode: Any = ...,
        material: Any = ...,
        bulk: Number = ...,
        viscosity: Number = ...,
        contraction: Any = ...,
        resistance: Number = ...,
        position: Numbers = ...,
        orientation: Union[Numbers, Mapping[str, Any]] = ...,
        angle: Number = ...,
        gradient: Numbers = ...,
        velocity: Numbers = ...,
        angular_velocity: Numbers = ...,
        supports: Numbers = ...,
        strength: Number = ...,
        rest_distance: Number = ...,
        power: Number = ...,
        repulsion: Any = ...,
        damping: Any = ...,
        friction: Any = ...,
        coulomb: Any = ...,
        adhesion: Any = ...,
    ) -> Table:
        """A soft, contractile or rigid body on plane supports with short-range contact fields."""

    def marker(self, name: str, **keys: Any) -> Table: ...
    def event(self, name: str, *, channel: str, **keys: Any) -> Table: ...
    def _add(self, section: str, name: str, keys: Dict[str, Any]) -> Table: ...
    def _element(self, section: str, name: str, keys: Dict[str, Any]) -> Table: ...

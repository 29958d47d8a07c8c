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
        """A body that deforms homogeneously, with markers at any material point.

        shape: Reference shape, in the frame of the body.
        density [kg/m³]: Density in the reference shape.
        position [m]: Initial position of the origin of the body frame, in the world frame.
        orientation: Initial orientation: body frame to world frame, after the initial deformation.
        gradient [1]: Initial deformation gradient before it is turned, with a positive determinant.
        velocity [m/s]: Initial velocity of the origin of the body frame, in the world frame.
        angular_velocity [rad/s]: Initial angular velocity, in the world frame.
        gradient_rate [1/s]: Initial rate of the deformation gradient before it is turned.
        """

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
        """A prism that deforms homogeneously in a plane.

        shape: Reference shape: a rectangle, disc, ellipse or polygon.
        density [kg/m³]: Density in the reference shape.
        plane: The plane of motion.
        position [m]: Initial position of the origin of the body frame, in the world frame.
        angle [rad]: Initial angle, from the first axis of the plane to the second, after the initial deformation.
        gradient [1]: Initial deformation gradient before it is turned, with a positive determinant.
        velocity [m/s]: Initial velocity of the origin of the body frame, in the world frame.
        angular_velocity [rad/s]: Initial angular velocity, from the first axis of the plane to the second.
        gradient_rate [1/s]: Initial rate of the deformation gradient before it is turned.
        """

    @overload
    def body(
        self,
        name: str,
        *,
        kind: Literal["ground"],
        markers: Mapping[str, Any] = ...,
        shape: Any = ...,
    ) -> Table:
        """A fixed frame: no coordinates, takes any force.
        """

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
        """A prism that deforms homogeneously in a plane and keeps its volume, without a constraint.

        shape: Reference shape: a rectangle, disc, ellipse or polygon.
        density [kg/m³]: Density in the reference shape.
        plane: The plane of motion.
        position [m]: Initial position of the origin of the body frame, in the world frame.
        angle [rad]: Initial angle, from the first axis of the plane to the second, after the initial deformation.
        gradient [1]: Initial deformation gradient before it is turned, with determinant 1.
        velocity [m/s]: Initial velocity of the origin of the body frame, in the world frame.
        angular_velocity [rad/s]: Initial angular velocity, from the first axis of the plane to the second.
        gradient_rate [1/s]: Initial rate of the deformation gradient before it is turned; what changes the area is left out.
        """

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
        """A mass at a point, without orientation.

        mass [kg]: Mass, positive.
        position [m]: Initial position in the world frame.
        velocity [m/s]: Initial velocity in the world frame.
        """

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
        """A rigid body with mass, inertia and orientation.

        mass [kg]: Mass, positive.
        inertia [kg m²]: Inertia about the centre of mass in the axes of the body frame: [Jxx, Jyy, Jzz] or [Jxx, Jyy, Jzz, Jxy, Jxz, Jyz].
        centre [m]: Centre of mass in the body frame.
        position [m]: Initial position of the origin of the body frame, in the world frame.
        orientation: Initial orientation: body frame to world frame.
        velocity [m/s]: Initial velocity of the origin of the body frame, in the world frame.
        angular_velocity [rad/s]: Initial angular velocity, in the world frame.
        """

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
        """Links connected by joints to a tree, in minimal coordinates; one body with markers on every link.

        links: The links, in any order.
        slip: Velocity below which dry friction of joints fades, in rad/s or m/s. Without it friction is as it is: joints stick.
        stop_stiffness: Stiffness of the stops at the ends of ranges, in N m/rad or N/m.
        stop_damping: Damping of the stops, in N m s/rad or N s/m.
        stop_restitution [1]: Coefficient of restitution of the stops between 0 and 1. With it they are contacts, which close, open and collide at located instants, and `stop_stiffness` and `stop_damping` do not count.
        """

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
        """A sleeve on a shaft: two frames share an axis, angle and travel are free.

        axis [1]: The joint axis in the frame of the first marker.
        axis_b [1]: The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
        """

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["fixed"],
        between: Numbers,
    ) -> Table:
        """A weld: two frames coincide in position and orientation.
        """

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
        """A plate on a table: two shifts in a plane and the angle about its normal are free.

        axis [1]: The joint axis in the frame of the first marker.
        axis_b [1]: The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
        """

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
        """A slider: two frames of fixed relative orientation share an axis, the travel along it is free.

        axis [1]: The joint axis in the frame of the first marker.
        axis_b [1]: The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
        """

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
        """A hinge: two frames share a point and an axis, the angle about it is free.

        axis [1]: The joint axis in the frame of the first marker.
        axis_b [1]: The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
        """

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
        """A nut on a thread: two frames share an axis, the travel along it follows the angle about it.

        axis [1]: The joint axis in the frame of the first marker.
        axis_b [1]: The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
        pitch [m]: Travel in a full turn: positive for a right-handed thread, negative for a left-handed one, not zero.
        """

    @overload
    def joint(
        self,
        name: str,
        *,
        kind: Literal["spherical"],
        between: Numbers,
    ) -> Table:
        """A ball and socket: two points coincide, all rotations are free.
        """

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
        """A Cardan joint: two frames share a point, an axis of one stays at right angles to an axis of the other.

        axis [1]: The arm of the cross that is fixed in the frame of the first marker.
        axis_b [1]: The arm of the cross that is fixed in the frame of the second marker.
        """

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["cable_length"],
        markers: Numbers,
        length: Number = ...,
    ) -> Table:
        """A taut cable of constant length through points, straight between neighbours.

        length [m]: The length; that at the start unless given.
        """

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
        """A motor: the speed of an angle or a travel between two frames follows a signal.

        of: What moves: `angle` or `travel`.
        axis [1]: The axis in the frame of the first marker.
        speed [rad/s or m/s]: The speed of the second marker against the first, about or along the axis.
        """

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
        """Angles and travels of joints of which a sum of polynomials is constant: mimic joints, cams, racks.

        terms: The coordinates, one for each pair of frames.
        offset [rad or m]: The value of the sum.
        """

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
        """The rim of a thin disc around the second marker touches a plane through the first; it may slip.

        radius [m]: The radius, positive.
        axle [1]: The axle, in the frame of the second marker.
        normal [1]: The normal of the plane towards the disc, in the frame of the first marker.
        """

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["distance"],
        between: Numbers,
        length: Number,
    ) -> Table:
        """A massless rod: keeps two points at a fixed distance.

        length [m]: The distance l, positive.
        """

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
        """Two toothed wheels on a carrier: their angles go as the numbers of teeth, exactly over any number of turns.

        teeth [1]: Numbers of teeth of wheel A and wheel B, not zero; negative for the ring of an internal gear.
        axes: The axes of wheel A and wheel B, in the frame of the carrier.
        wheel_axes: The axes in the wheels' own frames; the same numbers as `axes` unless given.
        offset [rad]: The value of z_A θ_A + z_B θ_B that meshes; only its part within a full turn matters.
        """

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
        """Two wheels on a carrier whose speeds have a fixed real ratio: friction wheels, belts.

        ratio [1]: Speed of wheel B over speed of wheel A, both against the carrier; negative where the wheels turn in opposite senses.
        axes: The axes of wheel A and wheel B, in the frame of the carrier.
        """

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
        """Keeps the volume of a body that deforms homogeneously; its multiplier is the pressure.

        volume [m³]: Volume of the reference shape.
        contraction: The prescribed relaxed shape, if it changes its volume.
        """

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["knife_edge"],
        between: Numbers,
        across: Numbers = ...,
    ) -> Table:
        """A blade at the second marker: it does not move sideways on the body of the first.

        across [1]: The direction across the blade, in the frame of the second marker.
        """

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
        """The second marker does not slip on the body of the first along given directions (or slips with given speeds).

        directions: The directions, one to three.
        fixed_in: The frame the directions are fixed in.
        speeds [m/s]: The speeds along them, as many as directions; all zero unless given.
        """

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["point_on_line"],
        between: Numbers,
        axis: Numbers = ...,
    ) -> Table:
        """Keeps the second marker on a line through the first.

        axis [1]: The direction of the line, in the frame of the first marker.
        """

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["point_on_plane"],
        between: Numbers,
        normal: Numbers = ...,
    ) -> Table:
        """Keeps the second marker in a plane through the first.

        normal [1]: The normal of the plane, in the frame of the first marker.
        """

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
        """The angle between two frames about an axis follows a signal, through any number of turns.

        axis [1]: The axis in the frame of the first marker.
        axis_b [1]: The axis in the frame of the second marker; the same numbers as `axis` unless given.
        angle [rad]: The angle of the second frame about the axis.
        """

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["prescribed_distance"],
        between: Numbers,
        length: Number,
    ) -> Table:
        """A massless rod or winch whose length follows a signal.

        length [m]: The distance, always positive.
        """

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
        """Components of the position of the second marker in the first frame follow signals.

        directions: The directions, one to three, in the frame of the first marker.
        values [m]: The components of the offset of the second marker along them, as many as directions.
        """

    @overload
    def constraint(
        self,
        name: str,
        *,
        kind: Literal["rigidity"],
        on: Union[str, Numbers],
        metric: Numbers = ...,
    ) -> Table:
        """Keeps lengths and angles of a body that deforms homogeneously: it moves as a rigid body, described by directors.

        metric [1]: The tensor C = ∇pᵀ∇p to keep, symmetric and positive definite; by default that of the start.
        """

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
        """A thin disc around the second marker rolls on a plane through the first without slip (together with `disc_on_plane`).

        radius [m]: The radius, positive.
        axle [1]: The axle, in the frame of the second marker.
        normal [1]: The normal of the plane towards the disc, in the frame of the first marker.
        """

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
        """A sphere around the second marker rolls on a plane through the first without slip (together with `sphere_on_plane`).

        radius [m]: The radius, positive.
        normal [1]: The normal of the plane towards the sphere, in the frame of the first marker.
        """

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
        """A sphere around the second marker touches a plane through the first; it may slip.

        radius [m]: The radius, positive.
        normal [1]: The normal of the plane towards the sphere, in the frame of the first marker.
        """

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
        """Keeps the total volume of cells between points, or lets it follow a signal; its multiplier is the pressure.

        volume [m³]: The total volume, a number or the name of a signal; that of the initial positions unless given.
        cell: What the cells are; their corners follow each other in the list of markers.
        """

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
        """A cylinder or pipe that points, or balls around them, cannot enter (or leave).

        axis [1]: The axis in the frame of the first marker.
        size [m]: Radius of the cylinder.
        inside: Whether points stay inside the cylinder, as in a pipe, instead of outside.
        radius [m]: Radius of a ball around each of the points; 0 for the points themselves.
        restitution [1]: Coefficient of restitution ε between 0 and 1.
        friction: Dry friction; none unless given.
        suction [N]: Suction that pulls each closed point to the surface; none where it is negative.
        """

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
        """Uneven ground z = h(x, y) that points, or small balls around them, cannot pass.

        height [m]: The height z of the ground over the x–y plane of the first marker, such as ``0.1*sin(2*pi*x)``.
        radius [m]: Radius of a ball around each of the points; 0 for the points themselves.
        restitution [1]: Coefficient of restitution ε between 0 and 1.
        friction: Dry friction; none unless given.
        suction [N]: Suction that pulls each closed point to the surface; none where it is negative.
        """

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
        """A plane that points, or balls around them, cannot pass.

        normal [1]: The normal in the frame of the first marker.
        offset [m]: Height of the plane over the first marker along the normal.
        belt [m/s]: Speed of the surface along the first tangent, as of a belt.
        radius [m]: Radius of a ball around each of the points; 0 for the points themselves.
        restitution [1]: Coefficient of restitution ε between 0 and 1.
        friction: Dry friction; none unless given.
        suction [N]: Suction that pulls each closed point to the surface; none where it is negative.
        hollow [m]: Within this distance of a point that bears on the plane other points of this contact may pass it; 0 for nowhere.
        """

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
        """A sphere that points, or balls around them, cannot enter (or leave).

        size [m]: Radius of the sphere.
        inside: Whether points stay inside the sphere instead of outside.
        radius [m]: Radius of a ball around each of the points; 0 for the points themselves.
        restitution [1]: Coefficient of restitution ε between 0 and 1.
        friction: Dry friction; none unless given.
        suction [N]: Suction that pulls each closed point to the surface; none where it is negative.
        """

    @overload
    def force(
        self,
        name: str,
        *,
        kind: Literal["actuator"],
        between: Numbers,
        force: Number,
    ) -> Table:
        """A force along the line between two points, given by a signal.

        force [N]: The force, a number or the name of a signal; positive pushes the points apart. It is zero while they coincide.
        """

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
        """A force on a point, given by signals, in world or marker axes.

        force [N]: The three components: numbers or names of signals.
        axes: The axes in which the components are given.
        """

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
        """A torque on a frame, given by signals, in world or marker axes.

        torque [N m]: The three components: numbers or names of signals.
        axes: The axes in which the components are given.
        """

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
        """A cable through points: straight between neighbours, with stiffness, damping and a given pull.

        stiffness [N/m]: Stiffness.
        damping [N s/m]: Damping, not negative.
        rest [m]: The lengths between which the spring is slack: the shortest and the longest.
        pull [N]: A further tension, a number or the name of a signal.
        limits [N]: The smallest and the largest tension; with them the cable is a servo, whose power is supplied.
        """

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
        """Short-range fields between a body and a plane support: repulsion, damping, friction, adhesion.

        shape: Reference shape whose boundary feels the support, in the frame of the body.
        normal: Outer normal of the support, in the frame of its marker.
        offset [m]: Distance of the support from its marker along the normal.
        strength [1]: Factor of all tractions, not negative: a number or the name of a signal.
        repulsion: Repulsion along the normal.
        damping: Damping of the normal velocity.
        friction: Viscous friction against the tangential velocity.
        coulomb: Regularised Coulomb friction.
        adhesion: Adhesion.
        """

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
        """Linear and quadratic drag of a medium, at rest or moving, on a point.

        linear [N s/m]: Linear coefficient c₁, not negative (6πηa for a slow sphere).
        quadratic [N s²/m²]: Quadratic coefficient c₂, not negative (½ρ c_d A for a fast body).
        medium_velocity [m/s]: Velocity w of the medium in the world frame: numbers or names of signals; at rest unless given.
        """

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
        """Dry friction of given size on the angle or the travel between two frames, which sticks and slips.

        of: What is resisted: `angle` or `travel`.
        axis [1]: The axis in the first frame.
        size [N or N m]: The largest force on a travel, or the largest torque on an angle; positive.
        """

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
        """Drag of a medium on the edge between two points, different along and across it.

        normal [N s/m²]: Linear coefficient c_n across the edge, not negative.
        tangential [N s/m²]: Linear coefficient c_t along the edge, not negative.
        normal_quadratic [N s²/m³]: Quadratic coefficient q_n across the edge, not negative.
        tangential_quadratic [N s²/m³]: Quadratic coefficient q_t along the edge, not negative.
        medium_velocity [m/s]: Velocity of the medium in the world frame: numbers or names of signals; at rest unless given.
        """

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
        """Elastic and viscous stress of a body that deforms homogeneously, with contraction.

        volume [m³]: Volume of the reference shape.
        material: The energy density, for instance `{ neo_hookean = { modulus = 6e4 } }`.
        bulk [Pa]: Bulk modulus of a compressible body; without it the body should be incompressible.
        viscosity [Pa s]: Viscosity μ, not negative.
        contraction: How the relaxed shape changes.
        resistance [Pa s]: Resistance μ_γ to a prescribed contraction, not negative; a driven one has its own.
        """

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
        """Newtonian attraction between all of its markers.

        masses [kg]: Masses mᵢ that attract; they need not be those of the bodies.
        parameters [m³/s²]: Gravitational parameters μᵢ = G mᵢ, often known better than masses.
        constant [m³/(kg s²)]: The constant of gravitation G, positive.
        softening [m]: Softening length ε: keeps close encounters finite. Zero is Newton's law.
        """

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
        """A tendon over joints, whose length is a sum of their coordinates, with stiffness, damping and a given pull.

        pulleys: The joints, one for each pair of frames.
        stiffness [N/m]: Stiffness.
        damping [N s/m]: Damping, not negative.
        rest [m]: The lengths between which the spring is slack: the shortest and the longest.
        pull [N]: A further tension, a number or the name of a signal.
        limits [N]: The smallest and the largest tension; with them the tendon is a servo, whose power is supplied.
        """

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
        """A force between two frames along an axis: a signal, a servo that holds a travel, or both, within limits.

        axis [1]: The axis in the first frame.
        force [N]: The force on the second frame, a number or the name of a signal.
        travel [m]: The travel that the servo wants, a number or the name of a signal.
        stiffness [N/m]: Force of the servo per travel that is missing.
        damping [N s/m]: Force of the servo against the speed.
        limits [N]: The smallest and the largest force; none if left out.
        """

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
        """A torque between two frames about an axis: a signal, a servo that holds an angle, or both, within a limit.

        axis [1]: The axis in the first frame; the same numbers are taken in the second.
        torque [N m]: The torque on the second frame, a number or the name of a signal.
        angle [rad]: The angle that the servo wants, a number or the name of a signal.
        stiffness [N m/rad]: Torque of the servo per angle that is missing.
        damping [N m s/rad]: Torque of the servo against the angular velocity.
        limit [N m]: The largest torque; none if left out.
        limits [N m]: The smallest and the largest torque, where they are not opposite; besides `limit`.
        """

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
        """A muscle between two points: an active spring with activation, a passive law and a damper.

        activation [1]: Activation a(t) from 0 to 1, a number or the name of a signal. Outside this range at the start is an error; later it is used as it comes.
        stiffness [N/m]: Stiffness k of the linear active law at full activation.
        rest_length [m]: Length l₀ at which the stretch is zero.
        damping [N s/m]: Damping d, not negative.
        active: Active tension at full activation as a law of the stretch, in place of a stiffness.
        passive: Passive tension as a law of the stretch, whatever the activation.
        force_velocity: How the active tension depends on the rate of the length; it does not unless given.
        """

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
        """A spring between two points whose tension is a polynomial, a table or a formula.

        law: The law of the spring.
        rest_length [m]: Length l₀ at which the stretch is zero.
        damping [N s/m]: Damping d, not negative.
        """

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
        """A rotational spring and damper between two frames about an axis of the first.

        axis [1]: The axis n in the first frame (any length but zero); the z axis unless given.
        stiffness [N m/rad]: Stiffness k.
        damping [N m s/rad]: Damping d, not negative.
        rest_angle [rad]: Angle φ₀ without torque; whole turns make no difference.
        """

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
        """A linear spring and damper between two points.

        stiffness [N/m]: Stiffness k.
        damping [N s/m]: Damping d, not negative.
        rest_length [m]: Length l₀ without tension.
        """

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
        """A force whose function is written in Python.
        """

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["constant"],
        value: Number,
    ) -> Table:
        """Always the same value.

        value [of the quantity]: The value.
        """

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["expression"],
        value: str,
    ) -> Table:
        """An expression in the time t, given as text.

        value [of the quantity]: An expression in the time t in s, such as ``2*sin(3*t) + exp(-t)``. Derivatives come from the text, so a signal that drives a motion must be twice differentiable where it is used.
        """

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
        """A sine with amplitude, frequency, phase and offset.

        amplitude [of the quantity]: Amplitude a.
        frequency [Hz]: Frequency ω/2π.
        angular_frequency [rad/s]: Angular frequency ω.
        phase [rad]: Phase φ at t = 0; π/2 makes a cosine.
        offset [of the quantity]: Offset a₀: the mean value.
        """

    @overload
    def signal(
        self,
        name: str,
        *,
        kind: Literal["polynomial"],
        coefficients: Numbers,
        start: Number = ...,
    ) -> Table:
        """A polynomial in the time since a start.

        coefficients [of the quantity, per s to the power k]: Coefficients c₀, c₁, c₂, … of (t − t₀)⁰, (t − t₀)¹, (t − t₀)², …
        start [s]: The time t₀ about which the polynomial is written.
        """

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
        """From one value to another with continuous velocity and acceleration (quintic).

        from_ [of the quantity]: The value a₀ until the start.
        to [of the quantity]: The value a₁ from the end on.
        start [s]: The time t₀ at which the step starts.
        end [s]: The time t₁ at which it ends, after the start.
        """

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
        """A curve through given times and values: a cubic spline or straight lines.

        times [s]: Times, ascending, at least two.
        values [of the quantity]: The value at each time.
        interpolation: How values between the given times are found. Splines are twice continuously differentiable inside the range.
        slopes [of the quantity, per s]: The slopes at the first and the last time, for a clamped spline.
        outside: What holds before the first and after the last time.
        """

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
        """A signal whose function is written in Python.
        """

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
        """A hydrostatic skeleton: segments of masses, muscles along and around, and volumes of fluid inside.

        segments: Number of segments N.
        length [m]: Length of the whole body in the given shape.
        lengths [m]: Lengths of the segments from the front, in place of `length`.
        half_widths [m]: Half widths of a rectangular section in y and z.
        section [m]: Any section in place of `half_widths`: y and z of corners 1 to 4.
        taper: Factor of the section along the body: a formula of the arclength s from 0 to 1, or a table.
        position [m]: Centre of the front face in the world frame.
        orientation: Orientation: the body's frame (x from front to end) to the world frame.
        velocity [m/s]: Initial velocity in the world frame.
        angular_velocity [rad/s]: Initial angular velocity about the centre of mass, in the world frame.
        density [kg/m³]: Density of the body; its mass goes to the corners.
        corner_mass [kg]: Mass of every corner, in place of a density.
        longitudinal: Muscles along the body.
        circular: Muscles around the faces.
        dorsoventral: Muscles across the faces, from dorsal to ventral corners.
        oblique: Muscles across the side faces of segments.
        compartments: Whose volume is kept: `whole` (the body), `each` (every segment), `none`, or a list of compartments.
        volume [m³]: Volume of the body, a number or the name of a signal; that of the given shape unless said otherwise. With `each` a number is shared among the segments in proportion to the given shape.
        shape: The shape at the start: `given`, or the `equilibrium` near it.
        drag: Drag of a medium on the longitudinal edges, as of an `edge_drag`.
        """

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
        """A soft, contractile or rigid body on plane supports with short-range contact fields.

        shape: Reference shape; plane shapes move in the x–z plane.
        density [kg/m³]: Density in the reference shape.
        mode: How it deforms.
        material: The energy density; not for rigid bodies.
        bulk [Pa]: Bulk modulus of a compressible body.
        viscosity [Pa s]: Viscosity.
        contraction: How the relaxed shape changes.
        resistance [Pa s]: Resistance to a prescribed contraction; a driven one has its own.
        position [m]: Initial position of the origin of the body frame, in the world frame.
        orientation: Initial orientation of a body in space.
        angle [rad]: Initial angle of a body in a plane, counterclockwise with x to the right and z up.
        gradient [1]: Initial deformation gradient before it is turned.
        velocity [m/s]: Initial velocity in the world frame.
        angular_velocity [rad/s]: Initial angular velocity in the world frame; in a plane about −y.
        supports: The supports: the plane z = 0 unless given.
        strength [1]: Factor of all tractions: a number or the name of a signal.
        rest_distance [m]: Distance at which the undeformed body rests under its weight; sets the repulsion.
        power: Power of the repulsion that `rest_distance` sets.
        repulsion: Repulsion, in place of `rest_distance`.
        damping: Damping of the normal velocity.
        friction: Viscous friction.
        coulomb: Regularised Coulomb friction.
        adhesion: Adhesion.
        """

    def marker(
        self,
        name: str,
        *,
        body: str = ...,
        link: str = ...,
        at: Numbers = ...,
        orientation: Union[Numbers, Mapping[str, Any]] = ...,
    ) -> Table:
        """Adds a marker: a place on a body.

        body: The body it sits on; not given inside a body.
        link: The link of a tree it sits on; the first if left out.
        at [m]: Position in the body's frame.
        orientation: Orientation: marker frame to body frame.
        """

    def event(
        self,
        name: str,
        *,
        channel: str,
        level: Number = ...,
        crossing: Any = ...,
        stop: bool = ...,
    ) -> Table:
        """Adds an event: an instant at which a channel crosses a level.

        channel: The channel to watch, for instance `body.bob.velocity.z`.
        level: The level, in the unit of the channel.
        crossing: The direction of the crossing.
        stop: Whether the run ends there.
        """

    def panel(
        self,
        name: str,
        *,
        channels: Numbers,
        title: str = ...,
        names: Numbers = ...,
        right: Numbers = ...,
        right_names: Numbers = ...,
        log: bool = ...,
        from_: Number = ...,
        until: Number = ...,
    ) -> Table:
        """Adds a panel to the report: channels over time.

        title: The title; the name of the panel if not given.
        channels: The channels to draw: names in which `*` stands for any text. All have the same unit.
        names: What the key calls the curves, in order; the names of the channels if not given.
        right: Channels to draw with an axis of their own at the right.
        right_names: What the key calls the curves of the axis at the right.
        log: Whether magnitudes are drawn on a logarithmic axis.
        from_ [s]: The first time to show; that of the run if not given.
        until [s]: The last time to show; that of the run if not given.
        """

    def shapes(
        self,
        name: str,
        *,
        times: Numbers,
        title: str = ...,
        view: Any = ...,
        elements: Numbers = ...,
        traces: Numbers = ...,
        surfaces: bool = ...,
    ) -> Table:
        """Adds a picture to the report: the shapes of bodies at some instants.

        title: The title; the name of the picture if not given.
        times: When: times, or words for events such as ``impact``; for an event the first one of its kind or name.
        view: From where: ``xy``, ``xz``, ``yz``, ``oblique``, or a direction from which to look.
        elements: Which bodies and elements to draw, such as ``force.leech_*`` (`*` stands for any text); all if not given.
        traces: Bodies and markers whose ways from the first to the last of the times are drawn, such as ``body.ball`` or ``marker.tip``.
        surfaces: Whether surfaces of contacts are drawn where they cross the plane of view.
        """

    def _add(self, section: str, name: str, keys: Dict[str, Any]) -> Table: ...
    def _element(self, section: str, name: str, keys: Dict[str, Any]) -> Table: ...

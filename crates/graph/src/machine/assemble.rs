//! From instructions to machine code, one for one, for processors with instructions on vectors.
//!
//! The code is a straight line, so that it is known of every value when it is needed next, and registers can be given out as the line is
//! walked along: the value that is needed last gives way (Belady 1966). Constants, inputs, outputs and what gave way are operands in
//! memory, which cost no instruction of their own. Of the three forms of a fused instruction the one is taken that overwrites an operand nobody
//! needs any more. A general code generator, which plans for branches and calls, needs twice as many instructions.
//!
//! Fours are to have the bits of the interpreter: products and sums are two instructions there, each with its own rounding.
//!
//! Functions of the library are calls, which [`super::emit`] makes.

use super::emit::{constants_at, fixed_at, is_library};
use super::window::{Asked, Base, Windows};
use super::{Bytes, Kind, order};
use crate::program::{Code, Instruction, Program};
use cranelift_assembler_x64::{Amode, Imm8, Registers, XmmMem, inst};
use dalembert_methods::trace::Op;

/// Registers by their numbers.
pub(super) struct Bank;

impl Registers for Bank {
    type ReadGpr = u8;
    type ReadWriteGpr = u8;
    type WriteGpr = u8;
    type ReadXmm = u8;
    type ReadWriteXmm = u8;
    type WriteXmm = u8;
}

/// An operand: a register, or a place in memory.
pub(super) type Operand = XmmMem<u8, u8>;

/// How many registers there are.
const REGISTERS: usize = 16;
/// A value that is in memory anyway gives way as if its next use were so many times as far away.
const EASY: u32 = 3;
const NEVER: u32 = u32::MAX;
const NONE: u8 = u8::MAX;

/// Whether code can be made this way: nothing is called, and addresses are given as expected.
pub(super) fn is_possible(program: &Program) -> bool {
    cfg!(unix) && !program.instructions.iter().any(|i| matches!(i.code, Code::Plain(op) if is_library(op)))
}

/// The shortest code of all orders.
pub(super) fn compile(program: &Program, kind: Kind) -> Bytes {
    let made = order::all(program).into_iter().map(|order| {
        let first = Assemble::new(program, kind, &order, Windows::default()).run(&order);
        (first, order)
    });
    let best = made.min_by_key(|((bytes, _), _)| bytes.code.len()).expect("there are orders");
    // Again, with what is asked for most near the addresses that are at hand.
    let ((_, asked), order) = best;
    Assemble::new(program, kind, &order, Windows::of(asked)).run(&order).0
}

/// An instruction for one state or for several.
macro_rules! put {
    ($self:ident, $one:ident | $more:ident, $($operand:expr),*) => {
        match $self.kind {
            Kind::One => inst::$one::<Bank>::new($($operand),*).encode(&mut $self.code),
            Kind::Two | Kind::Four => pair!($self, $more, $($operand),*),
        }
    };
}

/// An instruction on pairs, or on fours.
macro_rules! pair {
    ($self:ident, $name:ident, $($operand:expr),*) => {{
        let at = $self.code.len();
        cranelift_assembler_x64::inst::$name::<super::assemble::Bank>::new($($operand),*).encode(&mut $self.code);
        $self.widen(at);
    }};
}
pub(super) use pair;

/// The state of the translation.
pub(super) struct Assemble<'a> {
    program: &'a Program,
    pub(super) kind: Kind,
    pub(super) code: Vec<u8>,
    /// The value in each register.
    holds: [Option<u32>; REGISTERS],
    /// Registers that the instruction at hand needs.
    pinned: [bool; REGISTERS],
    /// The register of each value, or [`NONE`].
    register: Vec<u8>,
    /// Where each value is in memory, if it is.
    kept: Vec<Option<(Base, i32)>>,
    /// Slots of values that gave way.
    slot: Vec<Option<u32>>,
    free: Vec<u32>,
    /// Slots that are free after the instruction at hand, which still reads them.
    soon_free: Vec<u32>,
    slots: u32,
    /// For each value when it is needed, the next time last.
    uses: Vec<Vec<u32>>,
    /// Places of each value among the outputs.
    given: Vec<Vec<u32>>,
    /// Whether an angle has been squared yet.
    pub(super) squared: bool,
    now: u32,
    windows: Windows,
    asked: Asked,
}

impl<'a> Assemble<'a> {
    fn new(program: &'a Program, kind: Kind, order: &[u32], windows: Windows) -> Self {
        let mut uses = vec![Vec::new(); program.values];
        for (now, &t) in order.iter().enumerate().rev() {
            for &a in program.instructions[t as usize].operands() {
                let list: &mut Vec<u32> = &mut uses[a as usize];
                if list.last() != Some(&(now as u32)) {
                    list.push(now as u32);
                }
            }
        }
        let mut given = vec![Vec::new(); program.values];
        program.outputs.iter().enumerate().for_each(|(k, &o)| given[o as usize].push(k as u32));
        let bytes = kind.bytes();
        let constants = program.constants.len();
        let place = |v: usize| match v {
            v if v < constants => Some((Base::Table, constants_at(kind) + bytes * v as i32)),
            v if v < program.first_result() => Some((Base::Input, bytes * (v - constants) as i32)),
            _ => None,
        };
        Self {
            program,
            kind,
            code: Vec::new(),
            holds: [None; REGISTERS],
            pinned: [false; REGISTERS],
            register: vec![NONE; program.values],
            kept: (0..program.values).map(place).collect(),
            slot: vec![None; program.values],
            free: Vec::new(),
            soon_free: Vec::new(),
            slots: 0,
            uses,
            given,
            squared: false,
            now: 0,
            windows,
            asked: Asked::default(),
        }
    }

    fn run(mut self, order: &[u32]) -> (Bytes, Asked) {
        self.windows.open(&mut self.code);
        let program = self.program;
        let mut now = 0;
        while now < order.len() {
            let instruction = &program.instructions[order[now] as usize];
            let next = order.get(now + 1).map(|&t| &program.instructions[t as usize]);
            // Two angles of one state are computed at once.
            let pair = next.filter(|next| {
                let free = next.args[0] != instruction.to && next.args[0] != instruction.to + 1;
                self.kind == Kind::One && instruction.code == Code::SinCos && next.code == Code::SinCos && free
            });
            self.now = now as u32;
            if let Some(next) = pair {
                self.now += 1;
                self.angles(&[instruction, next]);
                now += 2;
            } else {
                self.instruction(instruction);
                now += 1;
            }
            self.pinned = [false; REGISTERS];
            self.free.append(&mut self.soon_free);
        }
        for (k, &value) in program.outputs.iter().enumerate() {
            if (value as usize) < program.first_result() {
                let register = self.bring(value);
                self.store(register, Base::Output, self.kind.bytes() * k as i32);
                self.pinned = [false; REGISTERS];
            }
        }
        if !self.squared {
            let zero = self.take();
            pair!(self, vxorpd_b, zero, zero, zero);
            let squares = self.memory(Base::Scratch, 0);
            pair!(self, vmovupd_b, squares, zero);
        }
        if self.kind == Kind::Four {
            // What follows must not wait for the upper halves: vzeroupper.
            self.code.extend([0xC5, 0xF8, 0x77]);
        }
        inst::retq_zo::new().encode(&mut self.code);
        // What comes first is for the squares of angles.
        let bytes = self.kind.entry() + self.kind.bytes() * self.slots as i32;
        (Bytes { code: self.code, slots: (bytes as usize).div_ceil(16) }, self.asked)
    }

    /// Makes the instruction that begins at a place one on four numbers if all are: its registers are twice as wide, which is one bit of its prefix.
    pub(super) fn widen(&mut self, at: usize) {
        const WIDE: u8 = 4;
        if self.kind == Kind::Four {
            // Prefixes have two or three bytes, and the bit is in the last one.
            let last = if self.code[at] == 0xC5 { at + 1 } else { at + 2 };
            debug_assert!(matches!(self.code[at], 0xC4 | 0xC5), "an instruction on vectors has their prefix");
            self.code[last] |= WIDE;
        }
    }

    fn address(&mut self, base: Base, offset: i32) -> Amode<u8> {
        self.asked.note(base, offset);
        self.windows.address(base, offset)
    }

    /// A place in memory as an operand.
    pub(super) fn memory(&mut self, base: Base, offset: i32) -> Operand {
        XmmMem::Mem(self.address(base, offset))
    }

    fn next(&self, value: u32) -> u32 {
        self.uses[value as usize].last().copied().unwrap_or(NEVER)
    }

    /// Whether a value is needed no more.
    fn is_over(&self, value: u32) -> bool {
        self.uses[value as usize].is_empty()
    }

    fn load(&mut self, register: u8, (base, offset): (Base, i32)) {
        let from = self.address(base, offset);
        match self.kind {
            Kind::One => inst::vmovsd_d::<Bank>::new(register, from).encode(&mut self.code),
            Kind::Two | Kind::Four => pair!(self, vmovupd_a, register, from),
        }
    }

    fn store(&mut self, register: u8, base: Base, offset: i32) {
        let to = self.address(base, offset);
        match self.kind {
            Kind::One => inst::vmovsd_c_m::<Bank>::new(to, register).encode(&mut self.code),
            Kind::Two | Kind::Four => pair!(self, vmovupd_b, to, register),
        }
    }

    /// A register that the instruction at hand may use; the value that is needed last gives way.
    pub(super) fn take(&mut self) -> u8 {
        let is_free = |r: &usize| self.holds[*r].is_none() && !self.pinned[*r];
        let found = (0..REGISTERS).find(is_free).unwrap_or_else(|| {
            let distance = |r: &usize| {
                let value = self.holds[*r].unwrap_or_default();
                let easy = if self.kept[value as usize].is_some() { EASY } else { 1 };
                (self.next(value).saturating_sub(self.now)).saturating_mul(easy)
            };
            let victim = (0..REGISTERS).filter(|&r| !self.pinned[r]).max_by_key(distance);
            let victim = victim.expect("an instruction needs fewer registers than there are");
            if let Some(value) = self.holds[victim] {
                self.give_way(value, victim as u8);
            }
            victim
        });
        self.pinned[found] = true;
        found as u8
    }

    fn give_way(&mut self, value: u32, register: u8) {
        if self.kept[value as usize].is_none() {
            let slot = self.free.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            let offset = self.kind.entry() + self.kind.bytes() * slot as i32;
            self.slot[value as usize] = Some(slot);
            self.kept[value as usize] = Some((Base::Scratch, offset));
            self.store(register, Base::Scratch, offset);
        }
        self.holds[register as usize] = None;
        self.register[value as usize] = NONE;
    }

    /// A value in a register, from now on.
    pub(super) fn bring(&mut self, value: u32) -> u8 {
        let found = self.register[value as usize];
        if found != NONE {
            self.pinned[found as usize] = true;
            return found;
        }
        let register = self.take();
        self.load(register, self.kept[value as usize].expect("a value is in a register or in memory"));
        self.holds[register as usize] = Some(value);
        self.register[value as usize] = register;
        register
    }

    /// A value where it is.
    pub(super) fn operand(&mut self, value: u32) -> Operand {
        let found = self.register[value as usize];
        if found != NONE {
            self.pinned[found as usize] = true;
            return XmmMem::Xmm(found);
        }
        let (base, offset) = self.kept[value as usize].expect("a value is in a register or in memory");
        self.memory(base, offset)
    }

    fn is_in_register(&self, value: u32) -> bool {
        self.register[value as usize] != NONE
    }

    /// A copy of a value in a register of its own.
    fn copy(&mut self, value: u32) -> u8 {
        let from = self.operand(value);
        let register = self.take();
        match from {
            XmmMem::Xmm(from) => pair!(self, vmovapd_a, register, from),
            XmmMem::Mem(_) => self.load(register, self.kept[value as usize].expect("it is there")),
        }
        register
    }

    /// Notes that the operands of an instruction are used.
    pub(super) fn used(&mut self, operands: &[u32]) {
        for &value in operands {
            let list = &mut self.uses[value as usize];
            while list.last().is_some_and(|&t| t <= self.now) {
                list.pop();
            }
        }
    }

    /// Frees what is needed no more: registers at once, slots after the instruction.
    pub(super) fn release(&mut self, operands: &[u32]) {
        for &value in operands {
            if !self.is_over(value) {
                continue;
            }
            self.soon_free.extend(self.slot[value as usize].take());
            let register = std::mem::replace(&mut self.register[value as usize], NONE);
            if register != NONE {
                self.holds[register as usize] = None;
                self.pinned[register as usize] = false;
            }
        }
    }

    /// Puts a result where it belongs.
    pub(super) fn result(&mut self, value: u32, register: u8) {
        for k in 0..self.given[value as usize].len() {
            let offset = self.kind.bytes() * self.given[value as usize][k] as i32;
            self.store(register, Base::Output, offset);
            self.kept[value as usize] = Some((Base::Output, offset));
        }
        if !self.is_over(value) {
            self.holds[register as usize] = Some(value);
            self.register[value as usize] = register;
        }
    }

    /// Gives registers back that hold nothing of use.
    pub(super) fn spare(&mut self, registers: [u8; 5]) {
        registers.into_iter().for_each(|r| self.pinned[r as usize] = false);
    }

    /// Whether anybody wants a result.
    pub(super) fn is_wanted(&self, value: u32) -> bool {
        !self.is_over(value) || !self.given[value as usize].is_empty()
    }

    fn instruction(&mut self, i: &Instruction) {
        let operands = i.operands();
        self.used(operands);
        match i.code {
            Code::SinCos => self.angles(&[i]),
            Code::MulAdd | Code::MulSub | Code::SubMul if self.kind == Kind::Four => self.apart(i),
            Code::MulAdd | Code::MulSub | Code::SubMul => self.fused(i),
            Code::Plain(op) => {
                let number = self.plain(op, i);
                self.result(i.to, number);
            }
        }
    }

    /// A product and a sum in one.
    fn fused(&mut self, i: &Instruction) {
        // Which operand is overwritten: it costs a copy, unless it is in a register and needed no more. Of the others one may be in memory.
        let price = |k: usize| {
            let [x, y] = [i.args[(k + 1) % 3], i.args[(k + 2) % 3]];
            let copied = !(self.is_in_register(i.args[k]) && self.is_over(i.args[k]));
            let [x_in, y_in] = [x, y].map(|v| self.is_in_register(v));
            usize::from(copied) + usize::from(!x_in && !y_in)
        };
        let over = [2, 0, 1].into_iter().min_by_key(|&k| price(k)).unwrap_or(2);
        let [mut x, mut y] = match over {
            2 => [i.args[0], i.args[1]],
            0 => [i.args[1], i.args[2]],
            _ => [i.args[0], i.args[2]],
        };
        if !self.is_in_register(x) && !self.is_in_register(y) {
            // The one that is needed again sooner.
            let sooner = if self.next(x) <= self.next(y) { x } else { y };
            self.bring(sooner);
        }
        let turned = !self.is_in_register(x);
        if turned {
            (x, y) = (y, x);
        }
        let x = self.bring(x);
        let y = self.operand(y);
        let own = i.args[over];
        let d = if self.is_in_register(own) && self.is_over(own) { self.bring(own) } else { self.copy(own) };
        // 231: d + x y; 213: x d + y; 132: d y + x.
        match (over, turned, i.code) {
            (2, _, Code::MulAdd) => put!(self, vfmadd231sd_a | vfmadd231pd_a, d, x, y),
            (2, _, Code::MulSub) => put!(self, vfmsub231sd_a | vfmsub231pd_a, d, x, y),
            (2, ..) => put!(self, vfnmadd231sd_a | vfnmadd231pd_a, d, x, y),
            (_, false, Code::MulAdd) => put!(self, vfmadd213sd_a | vfmadd213pd_a, d, x, y),
            (_, false, Code::MulSub) => put!(self, vfmsub213sd_a | vfmsub213pd_a, d, x, y),
            (_, false, _) => put!(self, vfnmadd213sd_a | vfnmadd213pd_a, d, x, y),
            (_, true, Code::MulAdd) => put!(self, vfmadd132sd_a | vfmadd132pd_a, d, x, y),
            (_, true, Code::MulSub) => put!(self, vfmsub132sd_a | vfmsub132pd_a, d, x, y),
            (_, true, _) => put!(self, vfnmadd132sd_a | vfnmadd132pd_a, d, x, y),
        }
        self.release(i.operands());
        self.result(i.to, d);
    }

    /// A product and a sum, each rounded by itself.
    fn apart(&mut self, i: &Instruction) {
        let [mut a, mut b, c] = i.args;
        if !self.is_in_register(a) && self.is_in_register(b) {
            (a, b) = (b, a);
        }
        let x = self.bring(a);
        let y = self.operand(b);
        if i.code == Code::SubMul {
            let z = self.bring(c);
            let d = self.take();
            pair!(self, vmulpd_b, d, x, y);
            pair!(self, vsubpd_b, d, z, d);
            self.release(i.operands());
            return self.result(i.to, d);
        }
        let z = self.operand(c);
        let d = self.take();
        pair!(self, vmulpd_b, d, x, y);
        if i.code == Code::MulAdd {
            pair!(self, vaddpd_b, d, d, z);
        } else {
            pair!(self, vsubpd_b, d, d, z);
        }
        self.release(i.operands());
        self.result(i.to, d);
    }

    /// Makes room for a result after its operands have been named.
    fn target(&mut self, operands: &[u32]) -> u8 {
        self.release(operands);
        self.take()
    }

    fn plain(&mut self, op: Op, i: &Instruction) -> u8 {
        let [mut a, mut b, c] = i.args;
        let all = i.operands();
        if matches!(op, Op::Add | Op::Mul) && !self.is_in_register(a) {
            let sooner = self.is_in_register(b) || self.next(b) < self.next(a);
            if sooner {
                (a, b) = (b, a);
            }
        }
        match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Less | Op::LessEqual | Op::Equal => {
                let x = self.bring(a);
                let y = self.operand(b);
                let d = self.target(all);
                match op {
                    Op::Add => put!(self, vaddsd_b | vaddpd_b, d, x, y),
                    Op::Sub => put!(self, vsubsd_b | vsubpd_b, d, x, y),
                    Op::Mul => put!(self, vmulsd_b | vmulpd_b, d, x, y),
                    Op::Div => put!(self, vdivsd_b | vdivpd_b, d, x, y),
                    Op::Less => put!(self, vcmpsd_b | vcmppd_b, d, x, y, Imm8::new(0x11)),
                    Op::LessEqual => put!(self, vcmpsd_b | vcmppd_b, d, x, y, Imm8::new(0x12)),
                    _ => put!(self, vcmpsd_b | vcmppd_b, d, x, y, Imm8::new(0)),
                }
                d
            }
            Op::Neg => {
                let x = self.bring(a);
                let d = self.target(all);
                let minus = self.memory(Base::Table, fixed_at(self.kind, 0));
                put!(self, vmulsd_b | vmulpd_b, d, x, minus);
                d
            }
            Op::Sqrt => {
                let x = self.bring(a);
                let d = self.target(all);
                match self.kind {
                    Kind::One => pair!(self, vsqrtsd_b, d, x, x),
                    Kind::Two | Kind::Four => pair!(self, vsqrtpd_b, d, x),
                }
                d
            }
            Op::And | Op::Or => {
                let (x, y) = (self.bring(a), self.bring(b));
                let d = self.target(all);
                if op == Op::And {
                    pair!(self, vandpd_b, d, x, y)
                } else {
                    pair!(self, vorpd_b, d, x, y)
                }
                d
            }
            Op::Not => {
                let x = self.bring(a);
                let d = self.target(all);
                let all = self.memory(Base::Table, fixed_at(self.kind, 2));
                pair!(self, vxorpd_b, d, x, all);
                d
            }
            Op::Known => {
                let d = self.take();
                self.load(d, (Base::Table, fixed_at(self.kind, if a == 1 { 2 } else { 1 })));
                d
            }
            _ => {
                // A choice.
                let (mask, yes, no) = (self.bring(a), self.bring(b), self.bring(c));
                let d = self.target(all);
                pair!(self, vblendvpd_rvmr, d, no, yes, mask);
                d
            }
        }
    }
}

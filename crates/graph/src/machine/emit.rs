//! From instructions to machine code, through Cranelift's code generator, where [`super::assemble`] cannot make it.
//!
//! Numbers are scalars for one state and vectors of two for two; masks are vectors of two in both, so that choices need no branches.

use super::place::Plan;
use super::{Bytes, CompileError, Kind, Slot, Width, assemble, sine};
use crate::program::{Code, Instruction, Program};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{AbiParam, Endianness, InstBuilder, MemFlagsData, SigRef, Signature, Type, Value, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use dalembert_methods::trace::Op;

/// What goes into the table first: functions of the library that have no instruction.
const LIBRARY: [(Op, usize); 10] = [
    (Op::Tan, 1),
    (Op::Asin, 1),
    (Op::Acos, 1),
    (Op::Exp, 1),
    (Op::Ln, 1),
    (Op::Tanh, 1),
    (Op::Round, 1),
    (Op::Floor, 1),
    (Op::Atan2, 2),
    (Op::Power, 2),
];
/// −1, the numbers 0 and 0, and the bits of a mask that holds.
const OWN: usize = 3;

extern "C" fn tan(x: f64) -> f64 {
    x.tan()
}
extern "C" fn asin(x: f64) -> f64 {
    x.asin()
}
extern "C" fn acos(x: f64) -> f64 {
    x.acos()
}
extern "C" fn exp(x: f64) -> f64 {
    x.exp()
}
extern "C" fn ln(x: f64) -> f64 {
    x.ln()
}
extern "C" fn tanh(x: f64) -> f64 {
    x.tanh()
}
extern "C" fn round(x: f64) -> f64 {
    x.round()
}
extern "C" fn floor(x: f64) -> f64 {
    x.floor()
}
extern "C" fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}
extern "C" fn power(x: f64, n: f64) -> f64 {
    x.powf(n)
}

/// Whether an operation is a call of the library.
pub(super) fn is_library(op: Op) -> bool {
    LIBRARY.iter().any(|(own, _)| *own == op)
}

/// Where a number of our own is in the table, in bytes: −1, 0 and 0, a mask that holds.
pub(super) fn fixed_at(kind: Kind, k: usize) -> i32 {
    kind.entry() * (LIBRARY.len() + k) as i32
}

/// Where a constant of the sine is in the table, in bytes.
pub(super) fn sine_at(kind: Kind, k: usize) -> i32 {
    fixed_at(kind, OWN + k)
}

/// Where the constants of the program begin in the table, in bytes.
pub(super) fn constants_at(kind: Kind) -> i32 {
    sine_at(kind, sine::constants().len())
}

/// Addresses of the library in the order of [`LIBRARY`], by their bits.
fn addresses() -> Vec<f64> {
    let one: [extern "C" fn(f64) -> f64; 8] = [tan, asin, acos, exp, ln, tanh, round, floor];
    let two: [extern "C" fn(f64, f64) -> f64; 2] = [atan2, power];
    let one = one.into_iter().map(|f| f as usize as u64);
    one.chain(two.into_iter().map(|f| f as usize as u64)).map(f64::from_bits).collect()
}

/// The table of a program: addresses, own and sine's constants as pairs or fours, then the program's constants, as pairs or fours for several states.
pub(super) fn table(program: &Program, kind: Kind) -> Vec<Slot> {
    let own = [-1.0, 0.0, f64::from_bits(u64::MAX)];
    let fixed = addresses().into_iter().chain(own).chain(sine::constants());
    let wide = |c: f64| std::iter::repeat_n(Slot([c; 2]), kind.entry() as usize / 16);
    let constants = program.constants.iter().copied();
    match kind {
        Kind::One => {
            let pairs = program.constants.chunks(2).map(|c| Slot([c[0], c.get(1).copied().unwrap_or(0.0)]));
            fixed.flat_map(wide).chain(pairs).collect()
        }
        Kind::Two | Kind::Four => fixed.chain(constants).flat_map(wide).collect(),
    }
}

/// Goes up when the same program gets other code.
const MAKING: u32 = 3;

/// For which processors code is made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Processor {
    /// The one at hand, with all that it can do.
    This,
    /// Any of its family.
    Any,
}

fn target(processor: Processor) -> Result<OwnedTargetIsa, CompileError> {
    // Others need their instruction caches told of new code.
    if !cfg!(target_arch = "x86_64") {
        return Err(CompileError::Processor(std::env::consts::ARCH.into()));
    }
    let failed = |error: settings::SetError| CompileError::Generator(error.to_string());
    let mut flags = settings::builder();
    // What its optimiser does has been done on the graph, and it would change the order.
    for (key, value) in [
        ("opt_level", "none"),
        ("regalloc_algorithm", "backtracking"),
        ("enable_verifier", "false"),
        ("is_pic", "true"),
    ] {
        flags.set(key, value).map_err(failed)?;
    }
    let builder = cranelift_native::builder_with_options(processor == Processor::This)
        .map_err(|text| CompileError::Processor(text.into()))?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| CompileError::Generator(error.to_string()))
}

/// Versions, processor and width, as text.
pub(super) fn environment(width: Width) -> Result<String, CompileError> {
    let isa = target(Processor::This)?;
    let flags: Vec<String> = isa.isa_flags().iter().map(ToString::to_string).collect();
    let versions = (env!("CARGO_PKG_VERSION"), cranelift_codegen::VERSION, MAKING);
    Ok(format!("{versions:?} {} {} {width:?}", isa.triple(), flags.join(" ")))
}

/// Whether products and sums are one instruction here.
fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma") && std::arch::is_x86_feature_detected!("avx");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The state of the translation.
pub(super) struct Emit<'a> {
    pub(super) b: FunctionBuilder<'a>,
    width: Width,
    kind: Type,
    fused: bool,
    input: Value,
    output: Value,
    table: Value,
    scratch: Value,
    /// Registers of values that are kept.
    register: Vec<Option<Value>>,
    is_mask: Vec<bool>,
    plan: Plan,
    signatures: [SigRef; 2],
    /// Sums of squares of angles.
    squares: Option<Value>,
    /// Places of each value among the outputs.
    given: Vec<Vec<u32>>,
    program: &'a Program,
}

/// Compiles a program.
pub(super) fn compile(program: &Program, width: Width, processor: Processor) -> Result<Bytes, CompileError> {
    let isa = target(processor)?;
    if processor == Processor::This && fused() && assemble::is_possible(program) {
        return Ok(assemble::compile(program, width.into()));
    }
    let mut context = Context::new();
    let mut builders = FunctionBuilderContext::new();
    let (config, pointer, convention) = (isa.frontend_config(), isa.pointer_type(), isa.default_call_conv());
    context.func.signature = Signature::new(convention);
    context.func.signature.params.extend([AbiParam::new(pointer); 4]);
    let mut b = FunctionBuilder::new(&mut context.func, &mut builders);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let [input, output, table, scratch] = std::array::from_fn(|k| b.block_params(block)[k]);
    let signatures = [1, 2].map(|count| {
        let mut signature = Signature::new(convention);
        signature.params.extend(vec![AbiParam::new(types::F64); count]);
        signature.returns.push(AbiParam::new(types::F64));
        b.import_signature(signature)
    });
    let mut given = vec![Vec::new(); program.values];
    program.outputs.iter().enumerate().for_each(|(k, &o)| given[o as usize].push(k as u32));
    let kind = if width == Width::One { types::F64 } else { types::F64X2 };
    let (register, is_mask) = (vec![None; program.values], vec![false; program.values]);
    let plan = Plan::new(program);
    let fused = processor == Processor::This && fused();
    let mut emit = Emit {
        b,
        width,
        kind,
        fused,
        input,
        output,
        table,
        scratch,
        register,
        is_mask,
        plan,
        signatures,
        squares: None,
        given,
        program,
    };
    emit.program();
    let Emit { mut b, plan, .. } = emit;
    b.ins().return_(&[]);
    b.finalize(config);
    let compiled = context.compile(&*isa, &mut ControlPlane::default());
    let compiled = compiled.map_err(|error| CompileError::Generator(error.inner.to_string()))?;
    if !compiled.buffer.relocs().is_empty() {
        return Err(CompileError::Generator("the code refers to something outside itself".into()));
    }
    Ok(Bytes { code: compiled.code_buffer().to_vec(), slots: plan.slots as usize })
}

fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl Emit<'_> {
    fn program(&mut self) {
        let program = self.program;
        let mut t = 0;
        while t < program.instructions.len() {
            let now = &program.instructions[t];
            let next = program.instructions.get(t + 1);
            // Two angles of one state are computed at once.
            let pair = next.filter(|next| {
                let free = next.args[0] != now.to && next.args[0] != now.to + 1;
                self.width == Width::One && now.code == Code::SinCos && next.code == Code::SinCos && free
            });
            if let Some(next) = pair {
                self.two_angles(now, next, t as u32);
                t += 2;
            } else {
                self.instruction(now, t as u32);
                t += 1;
            }
        }
        let squares = self.squares.unwrap_or_else(|| self.fixed_at(LIBRARY.len() + 1, types::F64X2));
        self.b.ins().store(flags(), squares, self.scratch, 0);
        for (k, &value) in program.outputs.iter().enumerate() {
            if (value as usize) < program.first_result() {
                let number = self.read(value);
                self.store_output(number, k as u32);
            }
        }
    }

    /// A constant of the sine, as a pair.
    pub(super) fn fixed(&mut self, k: usize) -> Value {
        self.fixed_at(LIBRARY.len() + OWN + k, types::F64X2)
    }

    fn fixed_at(&mut self, slot: usize, kind: Type) -> Value {
        self.b.ins().load(kind, flags().with_readonly(), self.table, 16 * slot as i32)
    }

    /// a · b + c.
    pub(super) fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        if self.fused {
            return self.b.ins().fma(a, b, c);
        }
        let product = self.b.ins().fmul(a, b);
        self.b.ins().fadd(product, c)
    }

    pub(super) fn cast(&mut self, kind: Type, value: Value) -> Value {
        self.b.ins().bitcast(kind, flags().with_endianness(Endianness::Little), value)
    }

    /// Bit 1 moved to the sign.
    pub(super) fn shifted(&mut self, value: Value) -> Value {
        self.b.ins().ishl_imm_u(value, 62)
    }

    /// Reads a value from where it is in memory.
    fn read(&mut self, value: u32) -> Value {
        let v = value as usize;
        let constants = self.program.constants.len();
        let width = 8 * self.width.count() as i32;
        if v < constants {
            let start = 16 * (LIBRARY.len() + OWN + sine::constants().len()) as i32;
            return self.b.ins().load(self.kind, flags().with_readonly(), self.table, start + width * v as i32);
        }
        if v < self.program.first_result() {
            return self.b.ins().load(self.kind, flags().with_readonly(), self.input, width * (v - constants) as i32);
        }
        let slot = self.plan.slot(value).expect("a result is in a register or in its slot until its last use");
        let kind = if self.is_mask[v] { types::I64X2 } else { self.kind };
        self.b.ins().load(kind, flags(), self.scratch, 16 * slot as i32)
    }

    fn store_output(&mut self, number: Value, k: u32) {
        self.b.ins().store(flags(), number, self.output, 8 * self.width.count() as i32 * k as i32);
    }

    /// Registers of the operands of an instruction. The one that can be read by the instruction itself is read last.
    fn operands(&mut self, list: &[u32], t: u32, foldable: impl Fn(usize) -> bool) -> Vec<Value> {
        let mut out: Vec<Option<Value>> = list.iter().map(|&v| self.register[v as usize]).collect();
        let mut order: Vec<usize> = (0..list.len()).filter(|&k| out[k].is_none()).collect();
        order.sort_by_key(|&k| foldable(k) && !self.plan.worth(list[k], t));
        for k in order {
            if let Some(same) = (0..list.len()).find(|&j| list[j] == list[k] && out[j].is_some()) {
                out[k] = out[same];
                continue;
            }
            let number = self.read(list[k]);
            out[k] = Some(number);
            if self.plan.worth(list[k], t) {
                self.register[list[k] as usize] = Some(number);
                self.plan.keep(list[k]);
            }
        }
        out.into_iter().flatten().collect()
    }

    /// Puts a result where it belongs.
    fn result(&mut self, value: u32, number: Value) {
        for k in self.given[value as usize].clone() {
            self.store_output(number, k);
        }
        if self.plan.is_used(value) && !self.plan.is_kept(value) {
            self.register[value as usize] = Some(number);
            self.plan.keep(value);
        }
    }

    fn end(&mut self, t: u32, operands: &[u32]) {
        let (gone, written) = self.plan.end(t, operands);
        for (value, slot) in written {
            if let Some(number) = self.register[value as usize] {
                self.b.ins().store(flags(), number, self.scratch, 16 * slot as i32);
            }
        }
        gone.into_iter().for_each(|value| self.register[value as usize] = None);
    }

    fn two_angles(&mut self, first: &Instruction, second: &Instruction, t: u32) {
        let x = self.operands(first.operands(), t, |_| false)[0];
        let y = self.operands(second.operands(), t + 1, |_| false)[0];
        let wide = self.b.ins().scalar_to_vector(types::F64X2, x);
        let wide = self.b.ins().insertlane(wide, y, 1);
        let (s, c) = self.angles(wide);
        for (lane, instruction) in [first, second].into_iter().enumerate() {
            for (k, pair) in [s, c].into_iter().enumerate() {
                let value = instruction.to + k as u32;
                if self.plan.is_used(value) || !self.given[value as usize].is_empty() {
                    let number = self.b.ins().extractlane(pair, lane as u8);
                    self.result(value, number);
                }
            }
        }
        self.end(t, first.operands());
        self.end(t + 1, second.operands());
    }

    /// Sines and cosines of two angles, noting how far they are.
    fn angles(&mut self, wide: Value) -> (Value, Value) {
        let squares = match self.squares {
            Some(sum) => self.mul_add(wide, wide, sum),
            None => self.b.ins().fmul(wide, wide),
        };
        self.squares = Some(squares);
        sine::sin_cos(self, wide)
    }

    fn instruction(&mut self, i: &Instruction, t: u32) {
        let foldable = |k: usize| match i.code {
            Code::MulAdd | Code::SubMul => true,
            Code::MulSub => k < 2,
            Code::Plain(Op::Add | Op::Mul) => true,
            Code::Plain(Op::Sub | Op::Div) => k == 1,
            _ => false,
        };
        let args = self.operands(i.operands(), t, foldable);
        let from_memory = |emit: &Self, k: usize| emit.register[i.args[k] as usize].is_none();
        let number = match i.code {
            Code::MulAdd => self.mul_add(args[0], args[1], args[2]),
            Code::MulSub if self.fused => {
                let c = self.b.ins().fneg(args[2]);
                self.b.ins().fma(args[0], args[1], c)
            }
            Code::MulSub => {
                let product = self.b.ins().fmul(args[0], args[1]);
                self.b.ins().fsub(product, args[2])
            }
            Code::SubMul if self.fused => {
                // The sign goes to the factor that is not read from memory.
                let (a, b) = if from_memory(self, 0) { (args[1], args[0]) } else { (args[0], args[1]) };
                let a = self.b.ins().fneg(a);
                self.b.ins().fma(a, b, args[2])
            }
            Code::SubMul => {
                let product = self.b.ins().fmul(args[0], args[1]);
                self.b.ins().fsub(args[2], product)
            }
            Code::SinCos => {
                let wide = if self.width == Width::One {
                    self.b.ins().scalar_to_vector(types::F64X2, args[0])
                } else {
                    args[0]
                };
                let (s, c) = self.angles(wide);
                let lane =
                    |e: &mut Self, pair| if e.width == Width::One { e.b.ins().extractlane(pair, 0) } else { pair };
                let (s, c) = (lane(self, s), lane(self, c));
                self.result(i.to + 1, c);
                s
            }
            Code::Plain(op) => self.plain(op, i, &args, i.code.arity() > 0 && from_memory(self, 0)),
        };
        self.is_mask[i.to as usize] = i.code.is_mask();
        self.result(i.to, number);
        self.end(t, i.operands());
    }

    fn plain(&mut self, op: Op, i: &Instruction, args: &[Value], first_in_memory: bool) -> Value {
        // What is read by the instruction itself is the second operand.
        let turned = |args: &[Value]| if first_in_memory { (args[1], args[0]) } else { (args[0], args[1]) };
        match op {
            Op::Add => {
                let (a, b) = turned(args);
                self.b.ins().fadd(a, b)
            }
            Op::Mul => {
                let (a, b) = turned(args);
                self.b.ins().fmul(a, b)
            }
            Op::Sub => self.b.ins().fsub(args[0], args[1]),
            Op::Div => self.b.ins().fdiv(args[0], args[1]),
            Op::Neg => {
                let minus = self.fixed_at(LIBRARY.len(), self.kind);
                self.b.ins().fmul(args[0], minus)
            }
            Op::Sqrt => self.b.ins().sqrt(args[0]),
            Op::Less | Op::LessEqual | Op::Equal => {
                let code = match op {
                    Op::Less => FloatCC::LessThan,
                    Op::LessEqual => FloatCC::LessThanOrEqual,
                    _ => FloatCC::Equal,
                };
                let (a, b) = (self.wide(args[0]), self.wide(args[1]));
                self.b.ins().fcmp(code, a, b)
            }
            Op::And => self.b.ins().band(args[0], args[1]),
            Op::Or => self.b.ins().bor(args[0], args[1]),
            Op::Not => {
                let all = self.fixed_at(LIBRARY.len() + 2, types::I64X2);
                self.b.ins().bxor(args[0], all)
            }
            Op::Known => self.fixed_at(LIBRARY.len() + if i.args[0] == 1 { 2 } else { 1 }, types::I64X2),
            Op::Select => {
                let (yes, no) = (self.wide(args[1]), self.wide(args[2]));
                let (yes, no) = (self.cast(types::I64X2, yes), self.cast(types::I64X2, no));
                let chosen = self.b.ins().bitselect(args[0], yes, no);
                let chosen = self.cast(types::F64X2, chosen);
                if self.width == Width::One { self.b.ins().extractlane(chosen, 0) } else { chosen }
            }
            _ => self.call(op, args),
        }
    }

    /// A number as a pair.
    fn wide(&mut self, number: Value) -> Value {
        if self.width == Width::One { self.b.ins().scalar_to_vector(types::F64X2, number) } else { number }
    }

    /// A function of the library, state by state.
    fn call(&mut self, op: Op, args: &[Value]) -> Value {
        let at = LIBRARY.iter().position(|(own, _)| *own == op).expect("all other operations have been translated");
        let count = LIBRARY[at].1;
        let address = self.fixed_at(at, types::I64);
        let one = |e: &mut Self, args: &[Value]| {
            let call = e.b.ins().call_indirect(e.signatures[count - 1], address, args);
            e.b.inst_results(call)[0]
        };
        if self.width == Width::One {
            return one(self, args);
        }
        let lane = |e: &mut Self, k: u8| -> Vec<Value> { args.iter().map(|&a| e.b.ins().extractlane(a, k)).collect() };
        let (low, high) = (lane(self, 0), lane(self, 1));
        let low = one(self, &low);
        let high = one(self, &high);
        let wide = self.b.ins().scalar_to_vector(types::F64X2, low);
        self.b.ins().insertlane(wide, high, 1)
    }
}

//! Sine and cosine of two angles at once, in registers given out by [`super::assemble`]: the formulas of [`dalembert_methods::sine`], step by step as
//! in [`super::sine`]. Fours round each product by itself.

use super::Kind;
use super::assemble::{Assemble, Operand, pair};
use super::emit::sine_at;
use super::window::Base;
use crate::program::Instruction;
use cranelift_assembler_x64::{Imm8, XmmMem};

/// How many constants the formulas have.
const SINE: usize = 20;

impl Assemble<'_> {
    /// Sines and cosines of one angle, or of two of one state.
    pub(super) fn angles(&mut self, list: &[&Instruction]) {
        for i in list {
            self.used(i.operands());
        }
        let (first, last) = (list[0].args[0], list[list.len() - 1].args[0]);
        let x = match self.kind {
            Kind::Two | Kind::Four => {
                let from = self.operand(first);
                let x = self.take();
                pair!(self, vmovupd_a, x, from);
                x
            }
            // Both lanes are numbers, so that what is noted of them is true.
            Kind::One => {
                let low = self.bring(first);
                let high = self.bring(last);
                let x = self.take();
                pair!(self, vunpcklpd_b, x, low, high);
                x
            }
        };
        for i in list {
            self.release(i.operands());
        }
        let (sine, cosine) = self.sine_and_cosine(x);
        for (lane, i) in list.iter().enumerate() {
            for (k, from) in [sine, cosine].into_iter().enumerate() {
                let value = i.to + k as u32;
                if !self.is_wanted(value) {
                    continue;
                }
                let mut register = from;
                if lane == 0 && list.len() > 1 {
                    // The pair is needed for the second angle.
                    register = self.take();
                    pair!(self, vmovapd_a, register, from);
                } else if lane == 1 {
                    pair!(self, vshufpd_b, from, from, from, Imm8::new(1));
                }
                self.result(value, register);
            }
        }
    }

    fn sine_and_cosine(&mut self, x: u8) -> (u8, u8) {
        let mut constants = Vec::new();
        for k in 0..SINE {
            constants.push(self.memory(Base::Table, sine_at(self.kind, k)));
        }
        let at = |k: usize| constants[k];
        let squares = self.memory(Base::Scratch, 0);
        let [s, u, z, p, q, w] = std::array::from_fn(|_| self.take());
        // How far the angles are, all of them together.
        if self.squared {
            pair!(self, vmulpd_b, u, x, x);
            pair!(self, vaddpd_b, u, u, squares);
        } else {
            pair!(self, vmulpd_b, u, x, x);
        }
        pair!(self, vmovupd_b, squares, u);
        self.squared = true;
        pair!(self, vmovupd_a, s, at(0));
        self.times_plus(s, x, at(1));
        pair!(self, vsubpd_b, u, s, at(1));
        self.plus_times(x, u, at(2));
        self.plus_times(x, u, at(3));
        pair!(self, vmulpd_b, z, x, x);
        for (p, first) in [(p, 8), (q, 14)] {
            pair!(self, vmovupd_a, p, at(first + 5));
            for k in (0..5).rev() {
                self.times_plus(p, z, at(first + k));
            }
        }
        pair!(self, vmulpd_b, u, z, x);
        self.times_plus(p, u, XmmMem::Xmm(x));
        // w + ((1 − w) − z/2 + z² q) with w = 1 − z/2.
        pair!(self, vmulpd_b, u, z, at(4));
        pair!(self, vmovupd_a, x, at(5));
        pair!(self, vsubpd_b, w, x, u);
        pair!(self, vsubpd_b, x, x, w);
        pair!(self, vsubpd_b, x, x, u);
        pair!(self, vmulpd_b, z, z, z);
        self.times_plus(q, z, XmmMem::Xmm(x));
        pair!(self, vaddpd_b, q, w, q);
        // In odd quadrants the two change places; the signs follow the quadrant.
        pair!(self, vandpd_b, u, s, at(6));
        pair!(self, vxorpd_b, x, x, x);
        pair!(self, vpsubq_b, u, x, u);
        pair!(self, vxorpd_b, x, p, q);
        pair!(self, vandpd_b, x, x, u);
        pair!(self, vandpd_b, u, s, at(7));
        pair!(self, vpsllq_d, u, u, Imm8::new(62));
        pair!(self, vpaddq_b, s, s, at(6));
        pair!(self, vandpd_b, s, s, at(7));
        pair!(self, vpsllq_d, s, s, Imm8::new(62));
        pair!(self, vxorpd_b, p, p, x);
        pair!(self, vxorpd_b, p, p, u);
        pair!(self, vxorpd_b, q, q, x);
        pair!(self, vxorpd_b, q, q, s);
        self.spare([x, s, u, z, w]);
        (p, q)
    }

    /// d · x + y in d.
    fn times_plus(&mut self, d: u8, x: u8, y: Operand) {
        if self.kind == Kind::Four {
            pair!(self, vmulpd_b, d, d, x);
            pair!(self, vaddpd_b, d, d, y);
        } else {
            pair!(self, vfmadd213pd_a, d, x, y);
        }
    }

    /// d + x · y in d.
    fn plus_times(&mut self, d: u8, x: u8, y: Operand) {
        if self.kind == Kind::Four {
            let product = self.take();
            pair!(self, vmulpd_b, product, x, y);
            pair!(self, vaddpd_b, d, d, product);
        } else {
            pair!(self, vfmadd231pd_a, d, x, y);
        }
    }
}

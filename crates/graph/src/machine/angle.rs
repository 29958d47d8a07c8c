//! Sine and cosine of two angles at once, in registers given out by [`super::assemble`]: the formulas of [`dalembert_methods::sine`], step by step as
//! in [`super::sine`].

use super::Width;
use super::assemble::{Assemble, pair};
use super::emit::sine_at;
use super::window::Base;
use crate::program::Instruction;
use cranelift_assembler_x64::Imm8;

/// How many constants the formulas have.
const SINE: usize = 20;

impl Assemble<'_> {
    /// Sines and cosines of one angle, or of two of one state.
    pub(super) fn angles(&mut self, list: &[&Instruction]) {
        for i in list {
            self.used(i.operands());
        }
        let (first, last) = (list[0].args[0], list[list.len() - 1].args[0]);
        let x = match self.width {
            Width::Two => {
                let from = self.operand(first);
                let x = self.take();
                pair!(self, vmovupd_a, x, from);
                x
            }
            // Both lanes are numbers, so that what is noted of them is true.
            Width::One => {
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
            constants.push(self.memory(Base::Table, sine_at(k)));
        }
        let at = |k: usize| constants[k];
        let squares = self.memory(Base::Scratch, 0);
        let [s, u, z, p, q, w] = std::array::from_fn(|_| self.take());
        // How far the angles are, all of them together.
        if self.squared {
            pair!(self, vmovapd_a, u, squares);
            pair!(self, vfmadd231pd_a, u, x, x);
        } else {
            pair!(self, vmulpd_b, u, x, x);
        }
        pair!(self, vmovapd_b, squares, u);
        self.squared = true;
        pair!(self, vmovapd_a, s, at(0));
        pair!(self, vfmadd213pd_a, s, x, at(1));
        pair!(self, vsubpd_b, u, s, at(1));
        pair!(self, vfmadd231pd_a, x, u, at(2));
        pair!(self, vfmadd231pd_a, x, u, at(3));
        pair!(self, vmulpd_b, z, x, x);
        for (p, first) in [(p, 8), (q, 14)] {
            pair!(self, vmovapd_a, p, at(first + 5));
            for k in (0..5).rev() {
                pair!(self, vfmadd213pd_a, p, z, at(first + k));
            }
        }
        pair!(self, vmulpd_b, u, z, x);
        pair!(self, vfmadd213pd_a, p, u, x);
        // w + ((1 − w) − z/2 + z² q) with w = 1 − z/2.
        pair!(self, vmulpd_b, u, z, at(4));
        pair!(self, vmovapd_a, x, at(5));
        pair!(self, vsubpd_b, w, x, u);
        pair!(self, vsubpd_b, x, x, w);
        pair!(self, vsubpd_b, x, x, u);
        pair!(self, vmulpd_b, z, z, z);
        pair!(self, vfmadd213pd_a, q, z, x);
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
}

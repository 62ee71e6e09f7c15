//! A flat JavaScript array that is filled from the front.
//!
//! Objects with names would read better on the other side, but each name costs a look-up in the string table:
//! 25 of them are a good part of the main thread's cost of a command. src/engine/addon/codec.ts gives the
//! elements their names. The numbers of a command's end, of which there are many, do not cross at all: they
//! are written into memory that both sides share.

use napi::bindgen_prelude::{Array, ToNapiValue};
use napi::{Env, Result};

use forkline_engine::Text;

/// The array so far.
pub struct JsRecord<'env> {
    env: &'env Env,
    array: Array<'env>,
    length: u32,
}

impl<'env> JsRecord<'env> {
    /// Makes an empty array.
    pub fn new(env: &'env Env) -> Result<Self> {
        Ok(JsRecord { env, array: env.create_array(0)?, length: 0 })
    }

    /// Appends a value.
    pub fn push(&mut self, value: impl ToNapiValue) -> Result<()> {
        self.array.set(self.length, value)?;
        self.length += 1;
        Ok(())
    }

    /// Appends text. ASCII is passed as Latin-1, the form of a one-byte string inside V8.
    pub fn push_text(&mut self, text: Text) -> Result<()> {
        match text {
            Text::Ascii(bytes) => self.push(self.env.create_string_latin1(bytes)?),
            Text::Utf16(units) => self.push(self.env.create_string_utf16(units)?),
        }
    }

    /// Appends an array with an element made of each item.
    pub fn push_each<Item>(
        &mut self,
        items: Vec<Item>,
        fill: impl Fn(&mut JsRecord<'env>, Item) -> Result<()>,
    ) -> Result<()> {
        let mut list = JsRecord::new(self.env)?;
        for item in items {
            let mut record = JsRecord::new(self.env)?;
            fill(&mut record, item)?;
            list.push(record.array)?;
        }
        self.push(list.array)
    }

    /// Returns the array.
    pub fn finish(self) -> Array<'env> {
        self.array
    }
}

/// Numbers in memory shared with JavaScript, filled from its start.
pub struct Figures<'memory> {
    memory: &'memory mut [f64],
    used: usize,
}

impl<'memory> Figures<'memory> {
    /// Begins at the start of the memory.
    pub fn new(memory: &'memory mut [f64]) -> Self {
        Figures { memory, used: 0 }
    }

    /// Returns how many numbers are used, which is also the position of the next one.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Appends a number.
    pub fn push(&mut self, number: f64) {
        if let Some(place) = self.memory.get_mut(self.used) {
            *place = number;
            self.used += 1;
        }
    }
}

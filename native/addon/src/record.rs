//! A flat JavaScript array being filled from the front.
//!
//! Objects with names would read better on the other side, but each name costs a look-up in the
//! string table: 25 of them are a good part of what a command costs the main thread.
//! src/engine/addon/codec.ts gives the elements their names. The numbers of a command's end, of which
//! there are many, do not cross at all: they are written into memory that both sides see.

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
    /// An empty one.
    pub fn new(env: &'env Env) -> Result<Self> {
        Ok(JsRecord { env, array: env.create_array(0)?, length: 0 })
    }

    /// Appends a value.
    pub fn push(&mut self, value: impl ToNapiValue) -> Result<()> {
        self.array.set(self.length, value)?;
        self.length += 1;
        Ok(())
    }

    /// Appends text. ASCII is Latin-1, the form a one-byte string has inside the engine.
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

    /// The array.
    pub fn finish(self) -> Array<'env> {
        self.array
    }
}

/// Numbers in memory shared with JavaScript, from its start on.
pub struct Figures<'memory> {
    memory: &'memory mut [f64],
    used: usize,
}

impl<'memory> Figures<'memory> {
    /// None used yet.
    pub fn new(memory: &'memory mut [f64]) -> Self {
        Figures { memory, used: 0 }
    }

    /// How many are used, and so where the next one goes.
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

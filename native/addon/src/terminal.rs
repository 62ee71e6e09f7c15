//! The terminal of a command.

use napi_derive::napi;

use crate::Channel;
use crate::event::EngineReply;
use crate::request::size;

#[napi]
impl Channel {
    /// Changes the size of the command's terminal.
    #[napi]
    pub fn resize(&self, id: f64, columns: f64, rows: f64) {
        if let Some(size) = size(columns, rows) {
            self.engine.resize(self.engine_id(id), size);
        }
    }

    /// Asks how the command's terminal takes what is typed. The reply is null without a terminal.
    #[napi]
    pub fn typing(&self, id: f64, request: f64) {
        let reply = self.replier(request);
        let answer = Box::new(move |typing| reply(EngineReply::Typing(typing)));
        self.engine.typing(self.engine_id(id), answer);
    }
}

//! The response among the messages of an answer.

use super::answer::{BodyHead, Incoming, Reply, lossy};
use super::elements::elements;
use super::failure::Failure;
use super::message::{Message, is_id};
use crate::json;

/// Finds the response among the messages of an answer.
pub(super) struct Pick {
    id: u64,
    found: Option<Reply>,
    /// The last response with another id: it stands when none has ours.
    last: Option<Reply>,
    /// What was wrong with the last message that could not be read, and the message.
    unreadable: Option<(String, BodyHead)>,
}

impl Pick {
    pub(super) fn new(id: u64) -> Pick {
        Pick { id, found: None, last: None, unreadable: None }
    }

    /// Takes a message, or a batch of them.
    pub(super) fn take(&mut self, mut text: String, incoming: &mut dyn Incoming) -> Result<(), Failure> {
        // RFC 8259, section 8.1: a reader may ignore a byte order mark.
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        if !text.trim_start().starts_with('[') {
            return self.take_one(text, incoming);
        }
        /// A batch of what are no messages is not read to its end.
        const MOST_UNREADABLE: usize = 1000;
        let mut outcome = Ok(());
        let mut unreadable = 0;
        let read = elements(&text, |part| {
            let before = self.unreadable.take();
            outcome = self.take_one(part.to_string(), incoming);
            unreadable += usize::from(self.unreadable.is_some());
            self.unreadable = self.unreadable.take().or(before);
            outcome.is_ok() && unreadable < MOST_UNREADABLE
        });
        if let Err(error) = read {
            self.unreadable = Some((format!("an answer that is not JSON: {error}"), BodyHead::whole(text)));
        }
        outcome
    }

    /// Takes the bytes of a message.
    pub(super) fn take_bytes(&mut self, bytes: Vec<u8>, incoming: &mut dyn Incoming) -> Result<(), Failure> {
        match String::from_utf8(bytes) {
            Ok(text) => self.take(text, incoming),
            Err(error) => {
                let what = format!("an answer that is not UTF-8: {}", error.utf8_error());
                self.unreadable = Some((what, BodyHead::whole(lossy(error.into_bytes()))));
                Ok(())
            }
        }
    }

    pub(super) fn has_found(&self) -> bool {
        self.found.is_some()
    }

    fn take_one(&mut self, text: String, incoming: &mut dyn Incoming) -> Result<(), Failure> {
        let (id, value, is_error) = match Message::parse(&text) {
            Ok(Message::Result { id, result }) => (id, result, false),
            Ok(Message::Error { id, error }) => (id, error, true),
            Ok(message) => return incoming.take(&message),
            Err(error) => {
                let what = format!("an answer that is not a JSON-RPC message: {error}");
                self.unreadable = Some((what, BodyHead::whole(text)));
                return Ok(());
            }
        };
        let (ours, part) = (is_id(id, self.id), json::place(&text, value));
        let reply = Reply::new(text, part, is_error);
        match ours {
            true => {
                self.found.get_or_insert(reply);
            }
            false => self.last = Some(reply),
        }
        Ok(())
    }

    /// Whether there is a response, under whatever id.
    pub(super) fn has_any(&self) -> bool {
        self.found.is_some() || self.last.is_some()
    }

    /// Why there is no response.
    pub(super) fn failure(&self) -> Failure {
        match &self.unreadable {
            Some((what, head)) => Failure::answered_with(what.clone(), head.clone()),
            None => Failure::answered("the answer ended without a response".into()),
        }
    }

    pub(super) fn finish(mut self) -> Result<Reply, Failure> {
        self.found.take().or(self.last.take()).ok_or_else(|| self.failure())
    }
}

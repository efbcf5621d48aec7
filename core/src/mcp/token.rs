//! One token, from the answer of a token server (RFC 6749, section 5.1) to the end of its life.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderValue;
use serde::Deserialize;
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::cancel::Scope;
use crate::json;

/// However short a life the server gives a token: it would be fetched for every single request.
const SHORTEST_LIFE: Duration = Duration::from_secs(1);

/// Ten years: a longer life may be more than a clock can count.
const LONGEST_LIFE: Duration = Duration::from_secs(315_360_000);

/// A token is renewed so long before its end, at the most.
const LONGEST_MARGIN: Duration = Duration::from_secs(30);

/// The most characters that are shown of the type of a token.
const LONGEST_TYPE: usize = 16;

/// Why a token is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// There is none, or none that lasts.
    Need,
    /// The server refused the one before.
    Refusal,
}

/// What stands in the place of a password. It has no `Debug`.
pub(super) struct Token {
    /// The value of the `authorization` header, zeroed when the last request that holds it is gone.
    header: HeaderValue,
    life: Life,
    cause: Cause,
    is_renewal_begun: AtomicBool,
}

impl Token {
    /// A token as it was granted; it was asked for at `asked`.
    pub(super) fn new(grant: &Grant, asked: Instant, cause: Cause) -> Result<Token, String> {
        // RFC 6750, section 2.1: it is one word.
        let header =
            sensitive(&["Bearer ", &grant.token]).filter(|_| grant.token.bytes().all(|b| b.is_ascii_graphic()));
        let header = header.ok_or("the access_token has a character that no header can hold")?;
        Ok(Token { header, life: Life { asked, length: grant.life }, cause, is_renewal_begun: AtomicBool::new(false) })
    }

    pub(super) fn header(&self) -> &HeaderValue {
        &self.header
    }

    pub(super) fn is_valid(&self) -> bool {
        self.life.is_left(Instant::now())
    }

    pub(super) fn is_due(&self) -> bool {
        self.life.is_due(Instant::now())
    }

    /// Whether a renewal must still be begun. True once.
    pub(super) fn begin_renewal(&self) -> bool {
        self.is_due() && !self.is_renewal_begun.swap(true, Ordering::Relaxed)
    }

    /// Whether it was fetched because one was refused, while the call was under way: then there is no sense in another.
    pub(super) fn is_second(&self, call: &Scope) -> bool {
        self.cause == Cause::Refusal && self.life.asked >= call.started()
    }
}

/// How long a token lasts, from when it was asked for.
struct Life {
    asked: Instant,
    /// Until it is refused, when the server does not say.
    length: Option<Duration>,
}

impl Life {
    fn is_left(&self, now: Instant) -> bool {
        self.length.is_none_or(|length| now < self.asked + length)
    }

    fn is_due(&self, now: Instant) -> bool {
        self.length.is_some_and(|length| now >= self.asked + length - LONGEST_MARGIN.min(length / 10))
    }
}

/// The value of a header that is made of `parts`, if one can be. It is shown by no `Debug`, and zeroed at its end.
pub(super) fn sensitive(parts: &[&str]) -> Option<HeaderValue> {
    struct Owner(Zeroizing<String>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            self.0.as_bytes()
        }
    }
    let mut value = HeaderValue::from_maybe_shared(Bytes::from_owner(Owner(Zeroizing::new(parts.concat())))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// What a token server grants.
pub(super) struct Grant {
    pub(super) token: Zeroizing<String>,
    kind: Option<String>,
    life: Option<Duration>,
}

impl Grant {
    /// Reads an answer. The error shows nothing of it: it may hold more secrets than the token.
    pub(super) fn parse(body: &[u8]) -> Result<Grant, String> {
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow)]
            access_token: Option<&'a RawValue>,
            #[serde(borrow)]
            token_type: Option<&'a RawValue>,
            #[serde(borrow)]
            expires_in: Option<&'a RawValue>,
        }
        let members: Members = serde_json::from_slice(body).map_err(|_| "the answer is no JSON object".to_owned())?;
        let token = members.access_token.and_then(text).filter(|token| !token.is_empty());
        Ok(Grant {
            token: token.ok_or("the answer has no access_token")?,
            kind: members.token_type.and_then(text).map(|kind| kind.to_string()),
            life: members.expires_in.and_then(life),
        })
    }

    /// Whether it is a token that verifi can use.
    pub(super) fn check_type(&self) -> Result<(), String> {
        match self.kind.as_deref() {
            Some(kind) if kind.eq_ignore_ascii_case("bearer") => Ok(()),
            // A long one is no type, but perhaps a token.
            Some(kind) if kind.len() > LONGEST_TYPE => Err("the token_type is another than Bearer".to_owned()),
            Some(kind) => Err(format!("the token_type is {kind:?}, not Bearer")),
            None => Err("the answer has no token_type".to_owned()),
        }
    }
}

fn text(raw: &RawValue) -> Option<Zeroizing<String>> {
    let token = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    Some(Zeroizing::new(json::unescape(token).into_owned()))
}

/// Seconds. Some servers give them as text; what is no number says nothing.
fn life(raw: &RawValue) -> Option<Duration> {
    let seconds: f64 = raw.get().trim_matches('"').parse().ok().filter(|seconds: &f64| !seconds.is_nan())?;
    Some(Duration::from_secs_f64(seconds.clamp(SHORTEST_LIFE.as_secs_f64(), LONGEST_LIFE.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rule 3.12.
    #[test]
    fn a_token_is_renewed_shortly_before_its_end() {
        let asked = Instant::now();
        let seconds = |seconds| Duration::from_secs_f64(seconds);
        for (length, due) in [(1.0, 0.9), (100.0, 90.0), (300.0, 270.0), (3600.0, 3570.0)] {
            let life = Life { asked, length: Some(seconds(length)) };
            let moment = Duration::from_millis(1);
            let at = |seconds_after: f64| asked + seconds(seconds_after);
            assert!(!life.is_due(at(due) - moment) && life.is_due(at(due) + moment), "{length}");
            assert!(life.is_left(at(length) - moment) && !life.is_left(at(length)), "{length}");
        }
        let endless = Life { asked, length: None };
        assert!(endless.is_left(asked + LONGEST_LIFE) && !endless.is_due(asked + LONGEST_LIFE));
    }

    // Rule 3.12.
    #[test]
    fn a_grant_is_read() {
        let life = |expires: &str| {
            let answer =
                format!(r#"{{"access_token":"a\u0062c","token_type":"bEARER","expires_in":{expires},"x":[]}}"#);
            let grant = Grant::parse(answer.as_bytes()).ok()?;
            assert_eq!((grant.token.as_str(), grant.check_type()), ("abc", Ok(())));
            grant.life.map(|life| life.as_secs_f64())
        };
        for (expires, seconds) in [
            ("3600", Some(3600.0)),
            ("\"3599\"", Some(3599.0)),
            ("2.5", Some(2.5)),
            ("0", Some(1.0)),
            ("-5", Some(1.0)),
            ("1e300", Some(315_360_000.0)),
            ("null", None),
            ("\"soon\"", None),
            ("\"NaN\"", None),
            ("[1]", None),
        ] {
            assert_eq!(life(expires), seconds, "{expires}");
        }
    }

    // Rule 3.12.
    #[test]
    fn what_is_no_grant_is_not_shown() {
        for (answer, says) in [
            ("", "the answer is no JSON object"),
            ("access_token=t0ken&token_type=bearer", "the answer is no JSON object"),
            (r#"["t0ken"]"#, "the answer is no JSON object"),
            (r#"{"token":"t0ken"}"#, "the answer has no access_token"),
            (r#"{"access_token":""}"#, "the answer has no access_token"),
            (r#"{"access_token":["t0ken"]}"#, "the answer has no access_token"),
            (r#"{"access_token":"t0ken"}"#, "the answer has no token_type"),
            (r#"{"access_token":"t0ken","token_type":"m\na\"c"}"#, r#"the token_type is "m\na\"c", not Bearer"#),
            (r#"{"access_token":"t0k\r\nx: en","token_type":"Bearer"}"#, "a character that no header can hold"),
            (r#"{"access_token":"t0k en","token_type":"Bearer"}"#, "a character that no header can hold"),
            (r#"{"access_token":"t0këen","token_type":"Bearer"}"#, "a character that no header can hold"),
        ] {
            let token = Grant::parse(answer.as_bytes()).and_then(|grant| {
                grant.check_type()?;
                Token::new(&grant, Instant::now(), Cause::Need)
            });
            let error = token.err().unwrap_or_default();
            assert!(error.contains(says) && !error.contains("t0k"), "{answer}: {error}");
        }
    }

    // Rules 3.12, 5.6.
    #[test]
    fn the_header_is_not_shown() {
        let header = sensitive(&["Bearer ", "t0ken"]).expect("a header");
        assert_eq!(header.as_bytes(), b"Bearer t0ken");
        assert!(!format!("{header:?}").contains("t0ken"));
    }
}
